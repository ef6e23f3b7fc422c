"""Whoever stores a vector makes sure, in the same transaction, that its model is the one in force."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, python_files

_STORES = re.compile(r"\btx\.memories\.add\(|\btx\.ingestion\.store\(|\b(?:store_change|change_in)\(runtime, tx")
_REQUIRED = re.compile(r"require_embedder\(runtime, (?:tx\.rebuild\.held\(\)|held)\)")


def test_every_service_that_stores_vectors_requires_the_embedder_first() -> None:
    storing = [
        path
        for path in python_files()
        if path.is_relative_to(ROOT / "core/services") and _STORES.search(path.read_text())
    ]
    assert len(storing) >= 4
    forgetful = [path.name for path in storing if not _REQUIRED.search(path.read_text())]
    assert forgetful == [], "call core.services.collections.require_embedder before the first row is locked"
