"""C41 and C43: without a network but loopback, and under other time zones, everything is as it was."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from core.adapters.sql.database import SqlDatabase
from core.services.issue_key import issue_key
from tests.acceptance.cases.field import Field
from tests.stack import ROOT, clean_environment, running_stack

# Brings the loopback interface up, which a new network namespace has down, then runs the demo in the namespace:
# SIOCSIFFLAGS with IFF_UP | IFF_RUNNING (netdevice(7)).
_WITHOUT_NETWORK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, 0x8914, struct.pack("16sh", b"lo", 0x41))
os.execv(sys.executable, [sys.executable, "-m", "deploy.local.demo"])
"""


@pytest.mark.needs("namespaces")
def test_c41_start_add_and_search_work_in_a_network_that_is_loopback_alone() -> None:
    command = ["unshare", "--net", sys.executable, "-c", _WITHOUT_NETWORK]
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCEEDED" in done.stdout
    assert "KELP-2291" in done.stdout


@pytest.mark.parametrize("zone", ["Asia/Shanghai", pytest.param("America/Los_Angeles", marks=pytest.mark.long)])
def test_c43_the_time_zone_of_the_processes_shifts_nothing(zone: str) -> None:
    with running_stack(TZ=zone) as (_, state):
        database = SqlDatabase(state.environment["MEMLANE_DATABASE_URL"])
        key = issue_key(database, "zone").key
        database.close()
        headers = {"Authorization": f"Token {key}"}
        with httpx.Client(base_url=state.api_url, headers=headers, timeout=60, trust_env=False) as client:
            _check(Field(client))


def _check(field: Field) -> None:
    now = datetime.now(UTC)
    (fresh,) = field.stored("I like tea from Uji", infer=False)
    (dated,) = field.stored("I ran a marathon yesterday", timestamp=1684922400)
    row = field.http.get(f"/v1/memories/{fresh}/").json()
    for name in ("created_at", "updated_at"):
        assert row[name].endswith(("Z", "+00:00"))
        assert abs(datetime.fromisoformat(row[name]) - now) < timedelta(minutes=2)
    old = field.http.get(f"/v1/memories/{dated}/").json()
    assert old["created_at"].startswith("2023-05-24T10:00:00")
    assert old["event_date"] == "2023-05-23"
    assert old["structured_attributes"]["hour"] == 10
    day = {"AND": [{"user_id": "u"}, {"created_at": {"gte": "2023-05-24", "lte": "2023-05-24"}}]}
    assert len(field.listed(day)) == 1
