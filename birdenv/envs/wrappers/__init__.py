"""Other forms of the same observations and actions, and other rewards.

* `ChatMessages`: chat messages and tool schemas, for policies that are chat models.
* `Markup`: the prompt and the tags of the published c-Interact scripts.
* `TurnCost`, `PotentialShaping` (with `resolved_points`): other rewards.
* `HiddenPrice`: a candidate environment that does not show the price of a question.
"""

from birdenv.envs.wrappers._chat import ChatMessages
from birdenv.envs.wrappers._markup import Markup
from birdenv.envs.wrappers._shaping import HiddenPrice, PotentialShaping, TurnCost, resolved_points

__all__ = ["ChatMessages", "HiddenPrice", "Markup", "PotentialShaping", "TurnCost", "resolved_points"]
