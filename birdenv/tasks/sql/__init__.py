"""What the SQL games share: actions, settings, task lists, records, result texts, markup, and words."""
