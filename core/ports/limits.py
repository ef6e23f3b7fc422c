"""The port of rate limits: token buckets that all processes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Taken:
    """`granted` tokens of those wanted; `remaining` in the bucket; `wait` seconds until the next, where none was."""

    granted: int
    remaining: int
    wait: float = 0.0


class Buckets(Protocol):
    def take(self, key: str, per_minute: int, want: int) -> Taken:
        """Up to `want` tokens of the bucket, which holds `per_minute` and fills evenly within a minute.

        Never raises and never waits long: what cannot be counted together is counted by this process alone.
        """
        ...

    def close(self) -> None: ...
