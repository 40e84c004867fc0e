"""Questions for simulated users, and the training of the rule-based user's weights on them."""
