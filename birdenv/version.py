"""The version of birdenv. It has its own module so that every other module can import it."""

__version__ = "0.1.0"
