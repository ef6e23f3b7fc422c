"""Scopes: whose memory it is. A lane is the scope of a request; a memory's scope is where it is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

ENTITY_FIELDS = ("user_id", "agent_id", "app_id", "run_id")
ENTITY_TYPES = {"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}
MAX_ENTITY_ID = 256


@dataclass(frozen=True)
class Scope:
    """The four nullable entity ids; at least one is set wherever a memory is stored."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, values: Mapping[str, str | None]) -> Scope:
        return cls(**{field: values.get(field) for field in ENTITY_FIELDS})

    @cached_property
    def key(self) -> str:
        """SHA-256 (hex) over the length-prefixed values.

        Null and empty differ, and no id can imitate a border between two ids. Unlike a tuple of
        nullable columns, the key can stand in a unique index: in SQL, NULLs never collide.
        """
        digest = hashlib.sha256()
        for value in (self.user_id, self.agent_id, self.app_id, self.run_id):
            raw = b"" if value is None else value.encode()
            digest.update(b"-" if value is None else b"%d:" % len(raw))
            digest.update(raw)
        return digest.hexdigest()

    @property
    def empty(self) -> bool:
        return not any(True for _ in self.entities())

    def entities(self) -> Iterator[tuple[str, str]]:
        """(type, id) of every id that is set: ("user", "alice"), …"""
        for type_, field in ENTITY_TYPES.items():
            value = getattr(self, field)
            if value is not None:
                yield type_, value

    def as_dict(self) -> dict[str, str | None]:
        return {field: getattr(self, field) for field in ENTITY_FIELDS}

    def attributed(self, to: str) -> Scope:
        """The scope that facts of one side are stored under.

        With both a user and an agent, the user's facts belong to the user alone and the assistant's to
        the agent alone; app and run stay on both. With one of them, everything goes there.
        """
        if self.user_id is None or self.agent_id is None:
            return self
        return replace(self, agent_id=None) if to == "user" else replace(self, user_id=None)
