"""SQL as text: tokens, statements and their first words, for both dialects, without a database."""
