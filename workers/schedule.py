"""What beat sends, and when. Apart from `workers.app`, so that beat does not load what only workers need."""

from __future__ import annotations

from typing import Any

SCHEDULE: dict[str, dict[str, Any]] = {
    "upkeep": {"task": "memlane.upkeep", "schedule": 60.0, "options": {"queue": "upkeep", "expires": 60}},
}
