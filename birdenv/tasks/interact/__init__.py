"""The code that c-Interact and a-Interact share: tasks, knowledge, profiles, the user's seat, and scores."""
