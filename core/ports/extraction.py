"""The port of extraction: a window of conversation in, candidates out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.domain.memory import Candidate, ShownMemory, Turn
from core.domain.outcomes import Outcome
from core.domain.scope import Scope
from core.ports.models import Usage


@dataclass(frozen=True)
class Instructions:
    """What the caller and the project ask of extraction; the call's own wins over the project's."""

    custom: str | None = None
    agent: str | None = None
    includes: str | None = None
    excludes: str | None = None
    categories: dict[str, str] = field(default_factory=dict)  # name → description


@dataclass(frozen=True)
class ExtractionRequest:
    """`turns` are the new messages, `earlier` the lane's last ones (context only, never a source)."""

    scope: Scope
    turns: Sequence[Turn]
    earlier: Sequence[Turn]
    shown: Sequence[ShownMemory]
    now: datetime
    instructions: Instructions = field(default_factory=Instructions)
    memory_type: str | None = None  # "procedural_memory" or None


@dataclass
class Extraction:
    """`dropped` are outcomes of candidates that were not good enough (filtered, failed)."""

    candidates: list[Candidate]
    dropped: list[Outcome] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


class Extractor(Protocol):
    """Raises ModelError (provider) or MemlaneError("model_output_invalid")."""

    def extract(self, request: ExtractionRequest) -> Extraction: ...
