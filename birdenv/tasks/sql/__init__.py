"""The code that the SQL games share: actions, settings, task lists, records, and results as text."""
