"""The neural player: a small recurrent network that has learned to talk and to act from dialogues.

`neural:FILE` plays; `train` and `reinforce` make the file. This is the only package that needs PyTorch.
"""

from birdenv.errors import InputError

try:
    import safetensors
    import torch
except ModuleNotFoundError as error:
    raise InputError(f"neural players need {error.name}: pip install 'birdenv[neural]'") from None

from birdenv_agents.neural._player import neural
from birdenv_agents.neural._reinforce import reinforce
from birdenv_agents.neural._train import train

__all__ = ["neural", "reinforce", "safetensors", "torch", "train"]
