"""Run studies in which people play dialogue games in a browser, from consent form to completion code.

* `birdenv.studies.study` runs a study without a network: `Study` guides people through the stages, and
  `Store` saves their dialogues.
* `birdenv.studies.replay` shows recorded dialogues, and `birdenv.studies.rating_round` lets people judge
  recorded dialogues.
* `birdenv.studies.ratings` computes statistics about the judgements.
* The other modules implement the web application, and require the `web` extra.

A person passes through the stages `instructions`, `waiting`, `chat`, `survey` and `finished`. The stage
`alone` follows a chat that does not count, for example because the partner left.
"""
