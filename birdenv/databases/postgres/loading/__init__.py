"""Loading templates: dump files, official folders, and SQLite databases converted."""
