"""SQLite sources and episode databases: images, guards, limits and worker processes."""
