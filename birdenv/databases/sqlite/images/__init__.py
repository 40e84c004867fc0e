"""Private, writable images of a database file, whose cost does not depend on the size of the file."""

from birdenv.databases.sqlite.images._image_kinds import open_image, trial

__all__ = ["open_image", "trial"]
