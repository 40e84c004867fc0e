"""Write and read files of the original pipeline, and compute the published score."""
