"""Checklist 39 to 47: every documented filter, with the scope rule off as printed and on, in list and in search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mem0.exceptions import ValidationError

from tests.acceptance.account import Account, account
from tests.acceptance.conftest import ModelStack
from tests.acceptance.filtered_rows import EVERYBODY, Rows, store
from tests.conftest import TestProject

U = {"u", "u+run", "u+app", "u+run+app", "u+bot"}
RUN = {"u+run", "u+run+app", "v+run", "bot+run"}
USERS = EVERYBODY - {"bot", "bot+run", "old+app", "t"}
W = {"w-finance", "w-health", "w-spam", "w-none", "w-july"}
OF_W: dict[str, Any] = {"user_id": "w"}
SPAM, TEST = {"categories": {"in": ["spam"]}}, {"categories": {"in": ["test"]}}
FINANCE, HEALTH = {"categories": {"in": ["finance"]}}, {"categories": {"in": ["health"]}}

# the documented examples, line by line: filter, the rows it is documented to match
DOCUMENTED: list[tuple[dict[str, Any], set[str]]] = [
    ({"user_id": "u"}, U),
    ({"userId": "u"}, U),
    ({"AND": [{"user_id": "u"}]}, U),
    ({"OR": [{"user_id": "u"}]}, U),
    ({**OF_W, **FINANCE}, {"w-finance"}),
    ({"AND": [OF_W, FINANCE]}, {"w-finance"}),
    ({"AND": [{"user_id": "*"}]}, USERS),
    ({"AND": [{"user_id": "u"}, {"run_id": "*"}]}, {"u+run", "u+run+app"}),
    ({"AND": [{"user_id": "u"}, {"run_id": "*"}, {"app_id": "*"}]}, {"u+run+app"}),
    ({"AND": [{"user_id": "*"}, {"run_id": "g"}]}, {"u+run", "u+run+app", "v+run"}),
    ({"AND": [{"user_id": {"in": ["u", "v", "nobody"]}}]}, U | {"v", "v+run"}),
    ({"OR": [{"user_id": "u"}, {"run_id": "g"}]}, U | RUN),
    ({"OR": [{"user_id": "v"}, {"agent_id": {"in": ["old", "chef"]}}]}, {"v", "v+run", "old+app", "cam+chef"}),
    ({"OR": [{"user_id": "s"}, {"agent_id": "t"}]}, {"s", "t"}),
    ({"AND": [{"user_id": "s"}, {"agent_id": "t"}]}, set()),
    ({"AND": [{"agent_id": "*"}, {"agent_id": {"ne": "old"}}]}, {"u+bot", "bot", "bot+run", "cam+chef", "t"}),
    ({"AND": [{"agent_id": "bot"}, {"run_id": "*"}]}, {"bot+run"}),
    ({"AND": [OF_W, {"categories": {"contains": "FINAN"}}]}, {"w-finance"}),
    ({"AND": [OF_W, {"NOT": {"categories": {"in": ["spam", "test"]}}}]}, W - {"w-spam"}),
    ({"AND": [OF_W, {"NOT": {"OR": [SPAM, TEST]}}]}, W - {"w-spam"}),
    ({"AND": [OF_W, {"OR": [FINANCE, HEALTH]}]}, {"w-finance", "w-health"}),
    ({"AND": [OF_W, {"metadata": {"source": "email"}}]}, {"w-spam"}),
    (
        {**OF_W, "OR": [{"metadata": {"type": "semantic"}}, {"metadata": {"type": "episodic"}}]},
        {"w-spam", "w-none"},
    ),
    ({"AND": [OF_W, {"keywords": {"icontains": "invoice"}}]}, {"w-finance", "w-health"}),
    ({"AND": [OF_W, {"created_at": {"gte": "2024-07-31"}}, {"created_at": {"lt": "2024-08-01"}}]}, {"w-july"}),
    ({"AND": [OF_W, {"created_at": {"gte": "2024-07-01", "lte": "2024-07-31"}}]}, {"w-july"}),
    ({"AND": [{"app_id": "c"}, {"OR": [{"user_id": "*"}, {"agent_id": "*"}]}]}, {"u+app", "u+run+app", "old+app"}),
    ({"AND": [{"app_id": "c"}], "OR": [{"user_id": "*"}, {"agent_id": "*"}]}, {"u+app", "u+run+app", "old+app"}),
    ({"AND": [{"user_id": "cam", "agent_id": "chef"}]}, {"cam+chef"}),
    ({"AND": [{"user_id": "u", "run_id": "g"}, {"keywords": {"contains": "knits"}}]}, {"u+run+app"}),
    ({"OR": [{"user_id": "*"}]}, USERS),
    ({"user_id": "u", "app_id": "*"}, {"u+app", "u+run+app"}),
    ({"user_id": "u", "app_id": "c", "run_id": "g"}, {"u+run+app"}),
    ({"AND": [{"user_id": "u"}, {"app_id": {"exists": True}}]}, {"u+app", "u+run+app"}),
]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"user_id": "u", "bogus_key": "z"}, "Top-level key must be a logical operator or an allowed field"),
    ({"NOT": SPAM}, "One of the filters"),
    ({"AND": [{"created_at": {"gte": "2024-07-01"}}, {"created_at": {"lt": "2024-08-01"}}]}, "One of the filters"),
    ({"user_id": "u", "metadata.trip": "x"}, "metadata.trip"),
    ({"user_id": "u", "memory_category": "email"}, "memory_category"),
    ({"user_id": "u", "AND": [{"sender": "x"}, {"subject": {"icontains": "y"}}]}, "sender"),
]


@pytest.fixture(scope="module")
def filtered(model_stack: ModelStack) -> tuple[TestProject, Rows]:
    project = model_stack.new_project()
    with account(project) as owner:
        return project, store(owner, model_stack.stack.database)


@pytest.fixture(scope="module", params=[False, True], ids=["loose", "strict"])
def strict(request: pytest.FixtureRequest, filtered: tuple[TestProject, Rows]) -> bool:
    """The project's own scope rule: as the platform documents its filters, and as it is here by default."""
    on: bool = request.param
    with account(filtered[0]) as owner:
        owner.scope_strictly(on)
    return on


class Asked:
    """One question put to list (MemoryClient) and to search (AsyncMemoryClient)."""

    def __init__(self, lists: Account, searches: Account, rows: Rows) -> None:
        self.lists, self.searches, self.rows = lists, searches, rows

    def __call__(self, raw: dict[str, Any]) -> set[str]:
        """The names of the rows that both of them find."""
        listed = self.rows.names(self.lists.listed(filters=raw))
        assert self.rows.names(self.searches.found("Who does what?", filters=raw)) == listed
        return listed

    def refusal(self, raw: dict[str, Any]) -> str:
        """The text of the 400 that both of them answer."""
        with pytest.raises(ValidationError) as in_list:
            self.lists.client.get_all(filters=raw)
        with pytest.raises(ValidationError) as in_search:
            self.searches.client.search("x", filters=raw)
        assert in_list.value.details == in_search.value.details
        return str(in_list.value.details["detail"])


@pytest.fixture(scope="module")
def asked(filtered: tuple[TestProject, Rows]) -> Iterator[Asked]:
    project, rows = filtered
    with account(project, "sync") as lists, account(project, "async") as searches:
        yield Asked(lists, searches, rows)


@pytest.mark.item(39)
@pytest.mark.parametrize(("raw", "documented"), DOCUMENTED, ids=[str(line[0]) for line in DOCUMENTED])
def test_39_every_documented_filter_finds_its_rows(
    asked: Asked, strict: bool, raw: dict[str, Any], documented: set[str]
) -> None:
    judged = asked.rows.judged(raw, strict=strict)
    assert asked(raw) == judged
    assert judged == documented if not strict else judged <= documented


@pytest.mark.item(39)
@pytest.mark.parametrize(("raw", "word"), REFUSED, ids=[str(line[0]) for line in REFUSED])
def test_39_documented_filters_that_are_no_filters_are_refused(asked: Asked, raw: dict[str, Any], word: str) -> None:
    assert word in asked.refusal(raw)


@pytest.mark.item(40)
def test_40_the_wildcard_leaves_out_nulls_and_ne_includes_them(asked: Asked, strict: bool) -> None:
    assert asked({"run_id": "*"}) == RUN
    assert asked({"user_id": "*", "run_id": {"ne": "g"}}) == USERS - RUN


@pytest.mark.item(41)
def test_41_a_user_alone_means_all_its_rows_or_by_the_scope_rule_its_bare_ones(asked: Asked, strict: bool) -> None:
    found = asked({"user_id": "u"})
    assert found == asked.rows.judged({"user_id": "u"}, strict=strict)
    assert found == ({"u"} if strict else U)


@pytest.mark.item(42)
def test_42_a_user_and_an_agent_together_find_verbatim_rows_alone(asked: Asked, strict: bool) -> None:
    assert asked({"AND": [{"user_id": "s"}, {"agent_id": "t"}]}) == set()
    assert asked({"AND": [{"user_id": "u"}, {"agent_id": "bot"}]}) == {"u+bot"}


@pytest.mark.item(43)
def test_43_siblings_and_keys_of_one_element_are_anded(asked: Asked, strict: bool) -> None:
    assert asked({"AND": [OF_W], "OR": [FINANCE, HEALTH]}) == {"w-finance", "w-health"}
    assert asked({"AND": [{**OF_W, "metadata": {"source": "email"}}]}) == {"w-spam"}
    assert asked({"OR": [{**OF_W, **FINANCE}, {"user_id": "v", "run_id": "g"}]}) == {"w-finance", "v+run"}
    assert asked({"user_id": "u", "AND": [{"user_id": "v"}]}) == set()


METADATA: list[tuple[dict[str, Any], set[str]]] = [
    ({"source": "email"}, {"w-spam"}),
    ({"source": {"eq": "chat"}}, {"w-none"}),
    ({"source": {"ne": "chat"}}, W - {"w-none"}),
    ({"source": {"contains": "mai"}}, {"w-spam"}),
    ({"n": 1}, {"w-none"}),
    ({"n": "1"}, set()),
    ({"on": True}, {"w-none"}),
    ({"on": 1}, set()),
    ({"tags": {"contains": "x"}}, {"w-none"}),
    ({"source": "email", "type": "semantic"}, {"w-spam"}),
    ({"source": "email", "type": "episodic"}, set()),
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"metadata": {"source": {"in": ["email"]}}}, "in"),
    ({"metadata": {"n": {"gt": 0}}}, "gt"),
    ({"bogus": 1}, "'user_id', 'agent_id', 'app_id', 'run_id'"),
    ({"created_at": {">=": "2024-07-01"}}, ">="),
    ({"categories": {"eq": "spam"}}, "eq"),
    ({"categories": {"ne": "spam"}}, "ne"),
    ({"created_at": {"eq": "2024-07-31"}}, "eq"),
    ({"user_id": {"nin": ["u"]}}, "nin"),
]


@pytest.mark.item(44)
@pytest.mark.parametrize(("condition", "names"), METADATA, ids=[str(line[0]) for line in METADATA])
def test_44_metadata_by_equality_and_by_part(asked: Asked, condition: dict[str, Any], names: set[str]) -> None:
    assert asked({**OF_W, "metadata": condition}) == names


@pytest.mark.item(44)
@pytest.mark.parametrize(("wrong", "named"), WRONG, ids=[str(line[0]) for line in WRONG])
def test_44_unknown_keys_and_operators_are_refused_by_name(asked: Asked, wrong: dict[str, Any], named: str) -> None:
    assert named in asked.refusal({"AND": [OF_W, wrong]})


@pytest.mark.item(45)
def test_45_keywords_with_and_without_case(asked: Asked) -> None:
    assert asked({**OF_W, "keywords": {"contains": "Invoice"}}) == {"w-finance"}
    assert asked({**OF_W, "keywords": {"icontains": "INVOICE"}}) == {"w-finance", "w-health"}
    assert asked({**OF_W, "keywords": {"contains": "%"}}) == set()


@pytest.mark.item(46)
def test_46_ids_and_ranges_of_time(asked: Asked) -> None:
    chosen = [asked.rows.id_of("w-july"), asked.rows.id_of("v")]
    assert asked({**OF_W, "memory_ids": chosen}) == {"w-july"}
    assert asked({**OF_W, "memory_ids": {"in": chosen}}) == {"w-july"}
    assert asked({**OF_W, "created_at": {"lte": "2024-07-31"}}) == {"w-july"}
    assert asked({**OF_W, "created_at": {"lt": "2024-07-31"}}) == set()
    assert asked({**OF_W, "created_at": {"lte": "2024-07-31T21:59:59Z"}}) == set()
    assert asked({**OF_W, "created_at": {"gte": "2024-08-01T06:00:00+08:00", "lt": "2024-08-01"}}) == {"w-july"}
    assert asked({**OF_W, "created_at": {"gt": "2024-07-31"}}) == W - {"w-july"}


@pytest.mark.item(47)
def test_47_ids_in_camel_case(asked: Asked, strict: bool) -> None:
    assert asked({"userId": "u", "runId": "g"}) == asked({"user_id": "u", "run_id": "g"})
    assert asked({"OR": [{"agentId": "bot"}, {"appId": "c"}]}) == asked(
        {"OR": [{"agent_id": "bot"}, {"app_id": "c"}]}
    )
