"""Simulated users with a language model (BIRD-Interact §3).

* `llm:MODEL`: one call decides what a question is about, another words the answer from what was granted.
* `llm-one-prompt:MODEL`: one call that is told everything, as in the older protocol; for comparison.
* `rule+llm:MODEL`: the rule-based user decides and words, the model only says it better.

Whatever they say passes the leak guard.
"""

from birdenv.users.model_user._players import llm_user, one_prompt_user, worded_rule_user

__all__ = ["llm_user", "one_prompt_user", "worded_rule_user"]
