"""What c-Interact and a-Interact share: records, tasks, knowledge, profiles, the user's seat, and grading."""
