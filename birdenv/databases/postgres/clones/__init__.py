"""Databases that episodes work on: shared while they only read, clones of their own once they write."""
