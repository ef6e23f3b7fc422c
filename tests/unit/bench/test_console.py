"""What a benchmark has measured is told whatever becomes of the rest."""

from __future__ import annotations

import pytest

from deploy.bench.client import BenchError
from deploy.bench.console import told_even_so


@pytest.mark.parametrize("failure", [BenchError("the peer is away"), SystemExit(143), KeyboardInterrupt()])
def test_what_is_measured_is_told_when_what_follows_fails(failure: BaseException) -> None:
    told: list[str] = []
    with pytest.raises(type(failure)), told_even_so(lambda: told.append("own figures")):
        raise failure
    assert told == ["own figures"]


def test_it_is_not_told_twice_when_all_goes_well() -> None:
    told: list[str] = []
    with told_even_so(lambda: told.append("own figures")):
        pass
    assert told == []
