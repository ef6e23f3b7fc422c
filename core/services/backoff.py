"""When to try again: exponential with full jitter, and what the provider says comes first."""

from __future__ import annotations

import random

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0


def retry_delay(tries: int, retry_after: float | None) -> float:
    """Seconds until the next try after `tries` earlier ones.

    Full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015): uniform over [0, min(cap, base·2^tries)];
    here from half a second, so that a retry is never at once. A Retry-After is honoured exactly, plus jitter.
    """
    if retry_after is not None:
        return max(0.0, retry_after) + random.uniform(0, 0.25)
    return random.uniform(0.5, max(1.0, min(LONGEST_SECONDS, FIRST_SECONDS * 2**tries)))
