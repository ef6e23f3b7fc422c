"""Memories and filters over one small world, so that random filters meet random rows often."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from core.domain.filter_fields import TEXT_FIELDS, TIME_FIELDS
from core.domain.ids import new_id
from core.domain.memory import Memory, MemoryState
from core.domain.scope import ENTITY_FIELDS, Scope

IDS = ("u", "v", "O'Brien", "50%&=", "用户一", "x/y")
CATEGORIES = ("Food", "food", "seafood", "FOOTBALL", "Straße", "ΣΊΣΥΦΟΣ", "σίσυφος", "旅行", "a|b", "[x]")
TEXTS = (
    "User likes green Tea",
    "User likes GREEN TEA in İstanbul",
    "50% of _all_ users\nuse a back\\slash",
    "Die STRASSE ist lang, die Straße auch",
    "Robert'); DROP TABLE memories;--",
    "用户一喜欢喝茶 (tea)",
    "",
)
NEEDLES = ("tea", "Tea", "%", "_", "\\", "straße", "İ", "i", "').", "DROP TABLE", "茶", "\n", ".*", "k")
JSON_VALUES: tuple[Any, ...] = (
    *("a", "", "10", "50%_\\", "x\ny", 1, 1.0, 1.5, 10**20, 1e20, -0.0, 0, True, False, None),
    *([], ["a"], ["a", "b"], [1, True, None], [["a"]], {}, {"a": 1}, {"a": 1, "b": [2]}, [{"a": 1.0}]),
)
KEYS = ("k", "n", "quote'\"key", "鍵", "a.b")
DAYS = tuple(date(2025, 6, 15) + timedelta(days=offset) for offset in (0, 1, 5, 10, 11))
CLOCKS = ("00:00:00", "00:00:00.000001", "12:30:00.5", "23:59:59.999999")


def random_memories(project_id: UUID, count: int, seed: int) -> list[Memory]:
    dice = random.Random(seed)
    return [_random_memory(dice, project_id) for _ in range(count)]


def _random_memory(dice: random.Random, project_id: UUID) -> Memory:
    ids = {field: dice.choice((None, None, None, None, *IDS[:3], *IDS)) for field in ENTITY_FIELDS}
    if not any(ids.values()):
        ids["user_id"] = "u"
    id_ = new_id()
    return Memory(
        id=id_,
        project_id=project_id,
        scope=Scope.of(ids),
        memory=dice.choice(TEXTS),
        hash=id_.hex,
        state=dice.choice(list(MemoryState)),
        replaced_kind=dice.choice((None, "changed", "corrected")),
        created_at=_moment(dice),
        updated_at=_moment(dice),
        metadata={key: dice.choice(JSON_VALUES) for key in dice.sample(KEYS, dice.randrange(len(KEYS)))},
        categories=dice.choice((None, [], dice.sample(CATEGORIES, dice.randrange(1, 4)))),
        expiration_date=dice.choice((None, *DAYS)),
        event_date=dice.choice((None, *DAYS)),
    )


def _moment(dice: random.Random) -> datetime:
    return datetime.fromisoformat(f"{dice.choice(DAYS)}T{dice.choice(CLOCKS)}").replace(tzinfo=UTC)


def _dates() -> st.SearchStrategy[str]:
    days = st.sampled_from(DAYS).map(str)
    zones = st.sampled_from(("", "Z", "+08:00", "-03:30"))
    return st.one_of(days, st.builds("{}T{}{}".format, days, st.sampled_from(CLOCKS), zones))


def _operators(operands: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """{operator: operand}, one or two of them."""
    pairs = st.sampled_from(sorted(operands)).flatmap(lambda op: operands[op].map(lambda value: (op, value)))
    return st.lists(pairs, min_size=1, max_size=2).map(dict)


def _entity_conditions() -> st.SearchStrategy[dict[str, Any]]:
    one = st.sampled_from(IDS)
    values = st.one_of(
        one,
        st.just("*"),
        _operators({"eq": one, "ne": one, "in": st.lists(one, max_size=3), "exists": st.just(True)}),
    )
    return st.dictionaries(st.sampled_from((*ENTITY_FIELDS, "userId")), values, min_size=1, max_size=2)


def _date_conditions() -> st.SearchStrategy[dict[str, Any]]:
    fields = st.sampled_from((*TIME_FIELDS, "expiration_date"))
    orders: dict[str, st.SearchStrategy[Any]] = {op: _dates() for op in ("gt", "gte", "lt", "lte", "ne")}
    values = st.one_of(_dates(), st.just("*"), _operators({**orders, "in": st.lists(_dates(), max_size=3)}))
    return st.dictionaries(fields, values, min_size=1, max_size=1)


def _other_conditions(ids: list[UUID]) -> st.SearchStrategy[dict[str, Any]]:
    needles = st.sampled_from(NEEDLES)
    texts = st.dictionaries(
        st.sampled_from(TEXT_FIELDS), _operators({"contains": needles, "icontains": needles}), min_size=1, max_size=1
    )
    names = st.sampled_from(CATEGORIES)
    parts = st.sampled_from(("foo", "SS", "σ", "|", "[", "旅", "o"))
    categories = st.one_of(names, st.just("*"), _operators({"in": st.lists(names, max_size=3), "contains": parts}))
    json_value = st.sampled_from(JSON_VALUES)
    bare = st.sampled_from([value for value in JSON_VALUES if not isinstance(value, dict)])
    wanted = st.one_of(bare, _operators({"eq": json_value, "ne": json_value, "contains": json_value}))
    metadata = st.dictionaries(st.sampled_from(KEYS), wanted, min_size=1, max_size=2)
    chosen = st.lists(st.sampled_from(ids).map(str), max_size=40)
    return st.one_of(
        texts,
        categories.map(lambda value: {"categories": value}),
        metadata.map(lambda value: {"metadata": value}),
        chosen.map(lambda value: {"memory_ids": value}),
    )


def raw_filters(ids: list[UUID]) -> st.SearchStrategy[dict[str, Any]]:
    """Filters as a caller would send them, nested up to a few levels."""
    leaf = st.one_of(_entity_conditions(), _date_conditions(), _other_conditions(ids))
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.builds(lambda left, right: left | right, inner, inner),
            st.dictionaries(
                st.sampled_from(("AND", "OR", "NOT")), st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2
            ),
            inner.map(lambda part: {"NOT": part}),
        ),
        max_leaves=6,
    )
