"""Language tables: words, no logic. One module per subject, all languages of a subject side by side."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """A set written as a paragraph."""
    return frozenset(text.split())
