"""The composition root: the only place that chooses adapters and the only reader of settings below the entry points."""
