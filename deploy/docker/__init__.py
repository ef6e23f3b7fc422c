"""The container image, and the checks that run inside it."""
