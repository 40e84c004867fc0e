"""The rule-based player of MutualFriends. It reads claims to find out which friend is the mutual one."""

from birdenv_agents.mutual_friends._own_phrases import ACTS, PHRASES
from birdenv_agents.mutual_friends._player import FriendsPlayer
from birdenv_agents.mutual_friends._scripted_partner import ScriptedFriend

__all__ = ["ACTS", "PHRASES", "FriendsPlayer", "ScriptedFriend"]
