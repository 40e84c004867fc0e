"""The candidate setting: environments in which an agent learns when a question is worth its price.

The agent chooses among fixed questions and candidate SQL statements, so actions and observations are numeric.
"""

from birdenv.envs.candidates._env import CInteractCandidatesEnv
from birdenv.envs.candidates._layout import CandidateColumn, EpisodeColumn, Layout, SpanColumn
from birdenv.envs.candidates._phase import phrases, question_about
from birdenv.envs.candidates._setting import MAX_SPANS, PRICES, QUESTIONS
from birdenv.envs.candidates._vector import CInteractCandidatesVectorEnv

__all__ = [
    "MAX_SPANS",
    "PRICES",
    "QUESTIONS",
    "CInteractCandidatesEnv",
    "CInteractCandidatesVectorEnv",
    "CandidateColumn",
    "EpisodeColumn",
    "Layout",
    "SpanColumn",
    "phrases",
    "question_about",
]
