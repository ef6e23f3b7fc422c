"""Every row of the list of bad inputs: its answer of the catalogue, and nothing of it left in the database."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.domain.errors import CATALOGUE
from tests.api.bad_inputs import CANARY, ELSEWHERE, REFUSED, Bad
from tests.api.bad_wire import WIRE, Wire, answered
from tests.api.tolerated_inputs import TOLERATED, Tolerated
from tests.api.world import Caller, World
from tests.stack import ROOT

_TABLES = text("""
SELECT string_agg(format('SELECT %L AS name, count(*) AS n FROM %I', tablename, tablename), ' UNION ALL ')
FROM pg_tables WHERE schemaname = 'public'
""")


@pytest.fixture(scope="module")
def mine(api: World) -> Caller:
    return api.project("bad inputs")


@pytest.fixture
def strict_webhooks(api: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No private address is allowed, as on a server."""
    from dataclasses import replace

    monkeypatch.setattr(api.parts, "webhooks", replace(api.parts.webhooks, allow="none"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.body.BODY_DEADLINE", 0.5)


def rows(api: World) -> dict[str, int]:
    """How many rows each table of the database has."""
    with api.parts.database.operations() as tx:
        query = tx.connection.execute(_TABLES).scalar_one()
        return {row.name: row.n for row in tx.connection.execute(text(query))}


@pytest.mark.usefixtures("strict_webhooks")
@pytest.mark.parametrize("bad", REFUSED, ids=str)
def test_a_bad_input_is_refused_in_words_of_the_catalogue_and_leaves_nothing(
    api: World, mine: Caller, bad: Bad
) -> None:
    before = rows(api)
    reply = mine.send(bad.method, bad.target_for(mine), bad.sent(), bad.headers)
    assert (reply.status, reply.body["code"]) == (bad.status, bad.code), reply.raw[:300]
    assert reply.status == CATALOGUE[reply.body["code"]].status
    assert isinstance(reply.body["detail"], str)
    assert reply.headers["x-request-id"]
    assert CANARY.encode() not in reply.raw
    assert rows(api) == before


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("wire", WIRE, ids=str)
def test_what_is_no_proper_http_is_refused_and_leaves_nothing(api: World, mine: Caller, wire: Wire) -> None:
    before = rows(api)
    assert answered(api.server.port, wire.bytes_for(mine.key)) == wire.statuses
    assert rows(api) == before


@pytest.mark.parametrize("input_", TOLERATED, ids=str)
def test_a_tolerated_input_is_read_as_documented(api: World, input_: Tolerated) -> None:
    """Each in a project of its own."""
    input_.holds(api.project("tolerated"))


def test_every_row_of_the_list_has_its_place() -> None:
    placed = {item.row for item in (*REFUSED, *WIRE, *TOLERATED)} | ELSEWHERE.keys()
    assert placed == set(range(1, 101))
    for where in ELSEWHERE.values():
        assert (ROOT / where.partition(":")[0]).exists(), where
