"""English that is known whatever the task: word forms, synonyms, kinds of things asked for, what is not answered."""
