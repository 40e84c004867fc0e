"""A typed client: `BirdenvClient(base_url=...)`. OpenEnv's `GenericEnvClient` uses dicts instead."""

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server import State

from birdenv.adapters.openenv import BirdenvAction, BirdenvObservation


class BirdenvClient(EnvClient[BirdenvAction, BirdenvObservation, State]):
    """Plays an episode: `reset(instance_id=...)`, then `step(BirdenvAction(message=...))`."""

    def _step_payload(self, action):
        return action.model_dump(include={"message"})

    def _parse_result(self, payload):
        ended = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        observation = BirdenvObservation(**payload["observation"] | ended)
        return StepResult(observation=observation, **ended)

    def _parse_state(self, payload):
        return State(**payload)
