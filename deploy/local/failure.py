"""The one error of the local stack: what is wrong, and what the person at the keyboard can do about it."""

from __future__ import annotations


class StackFailure(Exception):
    """`fix` is one sentence to act on."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


class TooSlow(StackFailure):
    """Something did not happen in time."""
