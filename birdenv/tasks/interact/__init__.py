"""Shared by c-Interact and a-Interact: records, tasks, knowledge, profiles, the user's seat and grading."""
