"""Other forms of the same observations and actions.

* `ChatMessages`: chat messages and tool schemas, for policies that are chat models.
* `Markup`: the prompt and the tags of the published c-Interact scripts.
* `HiddenPrice`: a candidate environment that does not show the price of a question.
"""

from birdenv.envs.wrappers._chat import ChatMessages
from birdenv.envs.wrappers._markup import Markup
from birdenv.envs.wrappers._price import HiddenPrice

__all__ = ["ChatMessages", "HiddenPrice", "Markup"]
