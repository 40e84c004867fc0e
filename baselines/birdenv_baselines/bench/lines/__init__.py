"""The lines of the table: one module for each subject, with the bars that its figures are held against."""
