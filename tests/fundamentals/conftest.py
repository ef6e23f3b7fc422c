"""What every lesson has: the official client, and a way to wait for an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.doubles.receiver import Receiver

Done = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def done(wait_event: Callable[[str], dict[str, Any]]) -> Done:
    """The event of an accepted request, at its end."""
    return lambda accepted: wait_event(accepted["event_id"])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()
