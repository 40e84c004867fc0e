"""A study without a network: the people, their way to a completion code, their dialogues, the database."""
