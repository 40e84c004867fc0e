"""Make private, writable images of a database file: memory maps, which are cheap for any size, or copies."""

from birdenv.databases.sqlite.images._image_kinds import open_image, trial

__all__ = ["open_image", "trial"]
