"""The version, apart from the package's door so that rooms below it can read it."""

__version__ = "0.1.0"
