"""Other forms of the same observations and actions.

* `ChatMessages`: chat messages and tool schemas, for policies that are chat models.
* `Markup`: the prompt and the tags of the published c-Interact scripts.
"""

from birdenv.envs.wrappers._chat import ChatMessages
from birdenv.envs.wrappers._markup import Markup

__all__ = ["ChatMessages", "Markup"]
