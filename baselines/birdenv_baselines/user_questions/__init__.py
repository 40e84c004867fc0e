"""Questions to a simulated user, and the weights that are made from them."""
