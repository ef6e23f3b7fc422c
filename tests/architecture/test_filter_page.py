"""docs/filters.md promises exactly the fields and operators that the parser knows."""

from __future__ import annotations

import re

from core.domain.filter_fields import KINDS, OPERATORS, WIRE_FIELDS
from core.domain.filter_parse import MAX_DEPTH, MAX_NODES
from core.domain.filter_values import MAX_LIST, MAX_TEXT
from tests.architecture.sources import ROOT

PAGE = (ROOT / "docs" / "filters.md").read_text(encoding="utf-8")


def test_the_page_lists_every_field_with_its_operators() -> None:
    section = PAGE.split("## Fields")[1].split("##")[0]
    documented = {}
    for row in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
        fields, operators = row.split(" | ")[:2]
        for field in re.findall(r"`(\w+)`", fields):
            documented[field] = tuple(re.findall(r"`(\w+)`", operators))
    assert documented == {field: OPERATORS[KINDS[field]] for field in WIRE_FIELDS}


def test_the_page_names_the_bounds() -> None:
    bounds = f"{MAX_DEPTH} levels, {MAX_NODES} conditions, {MAX_LIST:,} values in a list, {MAX_TEXT:,} characters"
    assert bounds in PAGE
