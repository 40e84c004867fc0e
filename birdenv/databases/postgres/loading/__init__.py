"""Load template databases from the authors' folders of dumps, single dump files, and SQLite databases."""
