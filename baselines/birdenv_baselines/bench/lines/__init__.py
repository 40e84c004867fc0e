"""The lines of the table, with the figures that they must reach, in one module per subject."""
