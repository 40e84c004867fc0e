"""The logic of a study, independent of web pages: people, dialogues, completion codes, and a database."""
