"""What is measured of the games that ship with birdenv: rates, groups and notes of summaries."""
