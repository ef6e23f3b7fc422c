"""The composition root: the only place that chooses adapters, and the only reader of settings inside core."""
