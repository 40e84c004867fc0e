"""The guard of statements: what they may do, how long they may take, how large values may be."""
