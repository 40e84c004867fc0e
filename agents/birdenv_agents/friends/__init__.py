"""The rule-based player of MutualFriends: it reads claims out of messages, weighs its friends, and talks."""

from birdenv_agents.friends._person import FriendsPerson
from birdenv_agents.friends._player import FriendsPlayer
from birdenv_agents.friends._words import ACTS, PHRASES

__all__ = ["ACTS", "PHRASES", "FriendsPerson", "FriendsPlayer"]
