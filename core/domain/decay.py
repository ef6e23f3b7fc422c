"""Decay: what was found lately and often stays near, what nobody asked for fades. A factor at search time only.

Base-level activation, ln Σ tᵢ^(-1/2) over the days since each use (Anderson & Schooler, "Reflections of the
environment in memory", 1991), through a logistic curve into the documented range of 0.3 to 1.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

LEAST, MOST = 0.3, 1.5
KEPT_TOUCHES = 20
_DAY = 86_400.0
_SHORTEST = 1 / 24  # days; what was used within the hour counts alike
# puts the factor at 1 for a memory that was stored a week ago and never found since
_NEUTRAL = math.log((1 - LEAST) / (MOST - 1)) + 0.5 * math.log(7)


def decay_factor(now: datetime, created_at: datetime, touches: Sequence[datetime]) -> float:
    """0.3 to 1.5. `touches` are the times at which searches returned the memory; its creation counts as one."""
    ages = (max(_SHORTEST, (now - used).total_seconds() / _DAY) for used in (created_at, *touches[:KEPT_TOUCHES]))
    activation = math.log(sum(age**-0.5 for age in ages))
    return LEAST + (MOST - LEAST) / (1 + math.exp(-(activation + _NEUTRAL)))
