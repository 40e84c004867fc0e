"""Simulated users with a language model (BIRD-Interact §3).

* `llm:MODEL`: one call decides what a question is about, and another words the answer from the granted SQL.
* `llm-one-prompt:MODEL`: a single call that sees everything, as in the older protocol; for comparison.
* `rule+llm:MODEL`: the rule-based user answers, and the model only rewords its answers.

The leak guard checks all answers from these users.
"""

from birdenv.users.model_user._players import llm_user, one_prompt_user, worded_rule_user

__all__ = ["llm_user", "one_prompt_user", "worded_rule_user"]
