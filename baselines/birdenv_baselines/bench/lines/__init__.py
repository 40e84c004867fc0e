"""The lines of the table, with the required values, in one module per subject."""
