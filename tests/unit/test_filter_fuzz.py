"""Whatever JSON is sent as a filter, it is understood by all readers or refused with 400."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.adapters.qdrant_filter import compile_filter
from core.adapters.sql.filter_sql import compile_sql
from core.domain.errors import MemlaneError
from core.domain.filter_fields import ALIASES, KNOWN_OPERATORS, LOGIC, WIRE_FIELDS
from core.domain.filter_parse import parse
from core.domain.filter_scope import scoped
from core.domain.filters import Node
from core.domain.payload import unindexed

_WORDS = (*LOGIC, *WIRE_FIELDS, *ALIASES, *sorted(KNOWN_OPERATORS), "*", "state", ">=", "$ne")
_VALUES = ("u", "2025-06-18", "2025-06-18T10:00:00Z", "0190b0c0-0000-7000-8000-000000000001", "", "\x00", "\ud800")


def _json() -> st.SearchStrategy[Any]:
    keys = st.one_of(st.sampled_from(_WORDS), st.text(max_size=5))
    leaf = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(_VALUES)
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=12,
    )


def _answer(raw: dict[str, Any]) -> Node | MemlaneError:
    try:
        return parse(raw)
    except MemlaneError as error:
        return error


@settings(max_examples=300, deadline=None, derandomize=True)
@given(raw=st.dictionaries(st.sampled_from(_WORDS), _json(), min_size=1, max_size=3))
def test_any_json_is_a_filter_or_a_bad_request(raw: dict[str, Any]) -> None:
    answer = _answer(raw)
    if isinstance(answer, MemlaneError):
        assert answer.code == "filters_invalid"
        str(answer.as_dict()).encode()  # whatever the caller wrote, the answer can be sent
        return
    for strict in (True, False):
        narrowed = scoped(answer, strict)
        compile_sql(narrowed)
        compile_filter(narrowed, {leaf: [] for leaf in unindexed(narrowed)})
