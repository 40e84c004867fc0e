"""Studies with people in the seats of any game, from consent to completion code.

* `birdenv.studies.study` runs a study without a network: `Study` leads people through it, and `Store` keeps
  their dialogues.
* `birdenv.studies.replay` shows recorded dialogues, and `birdenv.studies.rating_round` lets people judge
  them.
* `birdenv.studies.ratings` computes statistics of such judgements.
* The other modules are the web application of a study. They need the extra `web`.

A person passes through the stages `instructions`, `waiting`, `chat`, `survey` and `finished`. The stage
`alone` follows a chat that does not count, for example because the partner left.
"""
