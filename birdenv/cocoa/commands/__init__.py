"""The commands of this room, a module for each or for some that belong together."""
