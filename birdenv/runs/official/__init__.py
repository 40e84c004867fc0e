"""Read and write the result files of the published BIRD-Interact pipeline, and compute its score."""
