"""The original pipeline's files: writing them, reading them, and the published score."""
