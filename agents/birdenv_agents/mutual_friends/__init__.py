"""The rule-based MutualFriends player, which infers the mutual friend from the partner's claims."""

from birdenv_agents.mutual_friends._own_phrases import ACTS, PHRASES
from birdenv_agents.mutual_friends._player import FriendsPlayer
from birdenv_agents.mutual_friends._scripted_partner import ScriptedFriend

__all__ = ["ACTS", "PHRASES", "FriendsPlayer", "ScriptedFriend"]
