"""The neural player: a small recurrent network that has learned to talk and to act from dialogues.

`neural:FILE` plays; `train` and `reinforce` make the file. No other module of the agents needs PyTorch.
"""

from birdenv.errors import InputError

try:
    from birdenv_agents.neural._player import neural
    from birdenv_agents.neural._reinforce import reinforce
    from birdenv_agents.neural._train import train
except ModuleNotFoundError as error:
    if error.name not in ("torch", "safetensors"):
        raise
    raise InputError(f"neural players need {error.name}: pip install 'birdenv[neural]'") from None

__all__ = ["neural", "reinforce", "train"]
