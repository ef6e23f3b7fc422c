"""What became of each candidate, told honestly on the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

NOTHING_TO_STORE = "nothing_to_store"
ALL_DUPLICATES = "all_duplicates"
FILTERED = "filtered"


@dataclass(frozen=True)
class Outcome:
    """`outcome` is added | duplicate_of | superseded | filtered | failed.

    `memory_id` is the stored row, or the row that it duplicates or supersedes; `rule` names the filter
    (ungrounded, fetch_disabled, …); `code` is an error of the catalogue.
    """

    outcome: str
    text: str | None = None
    memory_id: UUID | None = None
    rule: str | None = None
    code: str | None = None
    detail: str | None = None

    def as_dict(self) -> dict[str, Any]:
        pairs = {
            "outcome": self.outcome,
            "memory": self.text,
            "memory_id": str(self.memory_id) if self.memory_id else None,
            "rule": self.rule,
            "code": self.code,
            "detail": self.detail,
        }
        return {key: value for key, value in pairs.items() if value is not None}


def reason_for_nothing(outcomes: list[Outcome]) -> str:
    """Why an event stored nothing: `nothing_to_store | all_duplicates | filtered`."""
    kinds = {outcome.outcome for outcome in outcomes}
    if not kinds:
        return NOTHING_TO_STORE
    return ALL_DUPLICATES if kinds <= {"duplicate_of"} else FILTERED
