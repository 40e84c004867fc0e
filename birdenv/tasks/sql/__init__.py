"""Shared by the SQL games: actions, views, result texts, chat messages, markup, dialects."""
