"""The commands of this room, a module for each."""
