"""A study, independent of its web pages: its people, dialogues, completion codes, and database."""
