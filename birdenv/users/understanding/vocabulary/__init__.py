"""English that is known whatever the task: word forms, synonyms, kinds of things, what is not answered."""
