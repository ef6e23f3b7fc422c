"""Pages of a listing: which part is asked for, and what part was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from core.domain.errors import MemlaneError

T = TypeVar("T")
DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 200


@dataclass(frozen=True)
class Window:
    """Page `number` counts from 1; `size` rows on each."""

    number: int = 1
    size: int = DEFAULT_PAGE_SIZE

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size


@dataclass(frozen=True)
class Page(Generic[T]):
    """The rows of one window, and how many there are on all pages."""

    items: list[T]
    count: int
    window: Window

    @property
    def has_next(self) -> bool:
        return self.window.offset + len(self.items) < self.count

    @property
    def has_previous(self) -> bool:
        return self.window.number > 1


def require_page(window: Window, count: int) -> None:
    """Raises MemlaneError("page_invalid") for a page behind the last one; the first page may be empty."""
    if window.number > 1 and window.offset >= count:
        raise MemlaneError("page_invalid")
