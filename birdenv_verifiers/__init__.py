"""The name under which verifiers finds the games of birdenv: `vf-eval birdenv-verifiers`."""

from birdenv.adapters.verifiers import BirdenvEnv, BirdenvTaskset

__all__ = ["BirdenvEnv", "BirdenvTaskset"]
