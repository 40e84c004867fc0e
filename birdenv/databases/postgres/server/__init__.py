"""birdenv's own PostgreSQL server: its programs, its data folder, its start and its end."""
