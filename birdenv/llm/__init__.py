"""Call chat models at OpenAI-compatible endpoints, with retries, recording, replay and cost accounting.

    models = Models(ModelSettings(base_url="http://127.0.0.1:8000/v1"))
    chat = models.chat("agent", "some-model", scope="library_1/0/system")
    completion = chat.complete([{"role": "user", "content": "Hello"}])

* `ModelSettings`: endpoints, limits, budgets and files, from options and the environment
* `Models`: the models of a run, with their recorded calls and costs, shared by all threads
* `FunctionModels`: models that are called through a Python function instead of an endpoint
* `Chat`: the model calls of one seat in one episode
* `Completion`: a validated answer from a model
* `Prompt`: a Jinja2 prompt template

This package does not depend on games. `openai` is imported when the first call is made.
"""

from birdenv.llm._completion import Completion
from birdenv.llm._errors import ContextOverflowError, EndpointError, ReplayMissError
from birdenv.llm._models import CALLS, FunctionModels, Models, models_of
from birdenv.llm._prompts import Prompt, package_prompt
from birdenv.llm._recording import (
    Call,
    CallFile,
    CollectedCalls,
    RecordedDialogue,
    recorded_dialogues,
    recorded_exchange,
)
from birdenv.llm._seat_calls import Chat, Spent
from birdenv.llm._settings import USER_PROMPTS, ModelSettings, Role

__all__ = [
    "CALLS",
    "USER_PROMPTS",
    "Call",
    "CallFile",
    "Chat",
    "CollectedCalls",
    "Completion",
    "ContextOverflowError",
    "EndpointError",
    "FunctionModels",
    "ModelSettings",
    "Models",
    "Prompt",
    "RecordedDialogue",
    "ReplayMissError",
    "Role",
    "Spent",
    "models_of",
    "package_prompt",
    "recorded_dialogues",
    "recorded_exchange",
]
