"""The lines of the table, in one module for each subject, with the bars for their figures."""
