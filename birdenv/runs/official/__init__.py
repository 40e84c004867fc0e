"""Files of the original pipeline: write them, read them, and compute the published score."""
