"""Servers that are there and do not do their work: frozen, emptied, full, locked up, cutting connections."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import rmtree

import psycopg
import pytest
import redis
from sqlalchemy import text

from core.domain.scope import Scope
from core.ports.database import DatabaseUnavailable
from core.services.erase import Whom, erase
from tests.chaos.cluster import Cluster, wait_until
from tests.chaos.load import Load, running_worker

pytestmark = [pytest.mark.chaos, pytest.mark.long]
_ADDS = 40


def broker(place: Cluster, password: str | None = None) -> redis.Redis:
    return redis.Redis(port=place.broker.port, password=password or place.broker.password, socket_timeout=5)


def test_a_frozen_broker_delays_no_add_and_no_work(place: Cluster, load: Load) -> None:
    running_worker(place, "frozen-broker")
    place.valkey.send(signal.SIGSTOP)
    try:
        for number in range(_ADDS):
            load.add(number)
        load.settle(stuck_after=30)
    finally:
        place.valkey.send(signal.SIGCONT)
    load.check()


def test_an_emptied_broker_loses_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "emptied-broker")
    with broker(place) as client:
        for number in range(_ADDS):
            load.add(number)
            if number % 10 == 0:
                client.flushall()
    load.settle()
    load.check()


def test_a_broker_that_is_full_loses_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "full-broker")
    with broker(place) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1")
        try:
            for number in range(_ADDS):
                load.add(number)
            load.settle()
        finally:
            client.config_set("maxmemory", "0")
    load.check()


def test_a_broker_with_another_password_loses_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "other-password")
    with broker(place) as client:
        client.config_set("requirepass", "another")
        client.client_kill_filter(_type="normal", skipme=True)
    try:
        for number in range(_ADDS):
            load.add(number)
        load.settle(stuck_after=30)
    finally:
        with broker(place, "another") as client:
            client.config_set("requirepass", place.broker.password)
    load.check()


def test_connections_that_the_database_cuts_are_made_anew(place: Cluster, load: Load) -> None:
    running_worker(place, "cut-connections")
    cut = text("""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name LIKE 'memlane_%' AND pid <> pg_backend_pid() AND random() < 0.5
""")
    done = threading.Event()

    def cutting() -> None:
        with psycopg.connect(place.url.replace("+psycopg", ""), autocommit=True) as connection:
            while not done.wait(0.3):
                connection.execute(str(cut))

    thread = threading.Thread(target=cutting)
    thread.start()
    try:
        for number in range(_ADDS):
            add_at_last(load, number)
    finally:
        done.set()
        thread.join()
    load.settle()
    load.check()


def add_at_last(load: Load, number: int) -> None:
    """As a client does that is told 503. What was refused may have been stored: the next try says something else."""
    for attempt in range(20):
        try:
            load.add(number + 1000 * _ADDS * attempt)
        except DatabaseUnavailable:
            continue
        return
    raise AssertionError("no add in twenty went through")


def test_a_transaction_left_open_on_a_lane_holds_up_that_lane_alone(place: Cluster, load: Load) -> None:
    running_worker(place, "held-lane")
    load.add(0, lanes=5)
    load.settle()
    with psycopg.connect(place.url.replace("+psycopg", "")) as connection:
        params = {"lane": Scope(user_id="user-0").key, "project": load.pipeline.project}
        held = "SELECT 1 FROM lanes WHERE lane_key = %(lane)s AND project_id = %(project)s FOR UPDATE"
        connection.execute(held, params)
        for number in (1, 2, 3, 4, 6, 7, 8, 9):
            load.add(number, lanes=5)
        load.settle(stuck_after=30)
    load.check()


def test_an_index_whose_disk_is_full_delays_and_loses_nothing(place: Cluster, load: Load) -> None:
    running_worker(place, "full-disk")
    load.add(0)
    load.settle()
    with full_disk(place.endpoint.pid):
        for number in range(1, _ADDS):
            load.add(number)
        wait_until(lambda: load.open_events() > 0, "the index refuses")
    load.settle()
    load.check()


def test_an_index_that_has_lost_its_folder_is_filled_again(place: Cluster, load: Load) -> None:
    running_worker(place, "lost-folder")
    for number in range(_ADDS):
        load.add(number)
    load.settle()
    place.endpoint.kill()
    rmtree(place.endpoint.command[place.endpoint.command.index("--path") + 1])
    place.endpoint.start()
    load.add(_ADDS)
    load.settle()
    load.check()


@contextmanager
def full_disk(pid: int) -> Iterator[None]:
    """No file of the process may grow: what is left of a disk that is full."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def test_an_erasure_amid_adds_whose_worker_is_killed_ends_with_nothing_left(place: Cluster, load: Load) -> None:
    worker = running_worker(place, "erasing")
    for number in range(50):
        load.add(number, lanes=1)
    wait_until(lambda: load.open_events() < 45, "some are done, others not")
    erase(load.runtime, Whom(load.pipeline.project, "user", "user-0"))
    worker.kill()
    worker.start()
    load.settle()
    left = "SELECT count(*) FROM {} WHERE project_id = :p"
    with place.database.operations() as tx:
        for table in ("memories", "history", "messages", "projections", "scope_entities"):
            query = text(left.format(table))
            assert tx.connection.execute(query, {"p": load.pipeline.project}).scalar_one() == 0, table
        texts = text("SELECT count(*) FROM events WHERE project_id = :p AND payload::text LIKE '%Fact number%'")
        assert tx.connection.execute(texts, {"p": load.pipeline.project}).scalar_one() == 0
    assert list(load.index.scroll("memlane_1", load.pipeline.project)) == []
