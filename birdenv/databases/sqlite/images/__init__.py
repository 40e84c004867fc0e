"""Private images of a database file: a writable connection to all of it, at a cost that does not grow."""

from birdenv.databases.sqlite.images._image_kinds import open_image, trial

__all__ = ["open_image", "trial"]
