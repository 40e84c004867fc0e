"""A study without its web pages: the people, their dialogues, their completion codes, and the database."""
