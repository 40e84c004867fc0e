"""Load template databases from dump files, official folders, and SQLite databases."""
