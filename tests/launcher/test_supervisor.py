"""The supervisor with plain children: what dies comes back, what is stopped is gone, what fails is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from deploy.local.failure import StackFailure
from deploy.local.supervisor import Part, Supervisor
from tests.waiting import wait_until

ALL: list[Callable[[str], bool]] = [lambda name: True]
SLEEPER = (sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()")
_STUBBORN_SCRIPT = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""
STUBBORN = (sys.executable, "-c", _STUBBORN_SCRIPT)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str]) -> Iterator[Supervisor]:
    """Stopped at the end where the test has not done so."""
    supervisor = Supervisor(tmp_path / "logs", os.environ, said.append)
    yield supervisor
    for child in supervisor.children.values():
        if not child.gone.is_set():
            child.process.kill()
            child.gone.wait(5)


@pytest.fixture
def watching(supervisor: Supervisor) -> Iterator[Supervisor]:
    thread = threading.Thread(target=supervisor.watch)
    thread.start()
    yield supervisor
    supervisor.ask_to_stop()
    thread.join(5)


def _up(supervisor: Supervisor, name: str) -> bool:
    return "up" in supervisor.tail(name)


def test_a_dead_child_is_started_again(watching: Supervisor, said: list[str]) -> None:
    first = watching.start(Part("sleeper", SLEEPER)).process
    first.send_signal(signal.SIGKILL)
    second = wait_until(lambda: (c := watching.children["sleeper"].process) is not first and c, 5)
    assert psutil.pid_exists(second.pid)
    assert watching.restarts == {"sleeper": 1}
    assert "sleeper ended with signal SIGKILL" in said[0]


def test_a_child_that_keeps_dying_is_started_less_and_less_often(watching: Supervisor, said: list[str]) -> None:
    watching.start(Part("broken", (sys.executable, "-c", "raise SystemExit(3)")))
    wait_until(lambda: len(said) == 3, 10)
    delays = [float(line.rsplit(" in ", 1)[1].removesuffix(" s")) for line in said]
    assert delays == sorted(set(delays))


def test_stop_ends_everything_even_what_ignores_the_polite_signal(supervisor: Supervisor) -> None:
    polite = supervisor.start(Part("polite", SLEEPER))
    stubborn = supervisor.start(Part("stubborn", STUBBORN, stop=((signal.SIGTERM, 0.2),)))
    wait_until(lambda: _up(supervisor, "polite") and _up(supervisor, "stubborn"), 10)
    supervisor.stop(ALL)
    assert polite.process.returncode == -signal.SIGTERM
    assert stubborn.process.returncode == -signal.SIGKILL


def test_groups_are_stopped_in_their_order(supervisor: Supervisor, tmp_path: Path) -> None:
    """The child of the first group can still see that of the second when it is told to stop."""
    seen = tmp_path / "seen"
    keeper = supervisor.start(Part("keeper", SLEEPER))
    script = (
        "import os, signal, sys\n"
        "def leave(*_):\n"
        f"    os.kill({keeper.process.pid}, 0); open({str(seen)!r}, 'w').close(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, leave); print('up', flush=True); signal.pause()"
    )
    supervisor.start(Part("user", (sys.executable, "-c", script)))
    wait_until(lambda: _up(supervisor, "keeper") and _up(supervisor, "user"), 10)
    supervisor.stop([lambda name: name == "user", lambda name: name == "keeper"])
    assert seen.exists()


def test_a_child_that_ends_during_the_start_fails_it_with_its_last_words(supervisor: Supervisor) -> None:
    supervisor.start(Part("broken", (sys.executable, "-c", "raise SystemExit('no licence')")))
    with pytest.raises(StackFailure, match=r"broken ended with exit code 1(.|\n)*no licence"):
        supervisor.wait_for(lambda: False, "never", 10)


def test_a_child_the_stack_can_do_without_fails_no_start(supervisor: Supervisor, said: list[str]) -> None:
    supervisor.start(Part("extra", (sys.executable, "-c", "raise SystemExit(4)"), essential=False))
    supervisor.wait_for(lambda: bool(said), "nothing was said", 10)
    assert "extra ended with exit code 4; starting it again" in said[0]


def test_what_ran_once_is_not_run_again(watching: Supervisor) -> None:
    first = watching.start(Part("once", (sys.executable, "-c", "pass"), once=True))
    other = watching.start(Part("other", (sys.executable, "-c", "raise SystemExit(1)")))
    wait_until(lambda: watching.children["other"] is not other, 10)
    assert watching.children["once"] is first


def test_a_part_that_runs_once_is_waited_for(supervisor: Supervisor) -> None:
    supervisor.run_once(Part("once", (sys.executable, "-c", "print('done')"), once=True), 10)
    assert "done" in supervisor.tail("once")


def test_a_program_that_is_not_there_is_a_clear_failure(supervisor: Supervisor) -> None:
    with pytest.raises(StackFailure, match="cannot be run"):
        supervisor.start(Part("absent", ("/nonexistent/program",)))


def test_a_child_ends_when_its_launcher_is_killed(tmp_path: Path) -> None:
    """The lifeline: a launcher that starts a child through it, and dies without a word."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from deploy.local.supervisor import Part, Supervisor\n"
        "supervisor = Supervisor(Path(sys.argv[1]), os.environ, print)\n"
        "serve = ('deploy.local.lifeline', 'http.server', '--bind', '127.0.0.1', '0')\n"
        "command = (sys.executable, '-u', '-m', *serve)\n"  # its log is read while it runs
        "print(supervisor.start(Part('child', command)).process.pid, flush=True)\n"
        "signal.pause()"
    )
    launcher = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert launcher.stdout is not None
    child = psutil.Process(int(launcher.stdout.readline()))
    wait_until(lambda: "Serving" in (tmp_path / "child.log").read_text(), 10)
    launcher.kill()
    launcher.wait(5)
    launcher.stdout.close()
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 10)
