"""`bench extract`: what counts as kept, wrong and beside the point, and a run over a scripted endpoint."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.domain.memory import Candidate
from core.services.extract_model import ModelExtractor
from deploy.bench.cli import app
from deploy.bench.extract import Counting, report, run
from deploy.bench.extract_cases import Case, Judged, judge, read_cases
from deploy.bench.extractors import by_rules
from tests.doubles.model_server import ModelServer, Reply, error, memories

CASES = {case.name: case for case in read_cases()}


def judged(name: str, *candidates: Candidate | str) -> Judged:
    return judge(CASES[name], [Candidate(one) if isinstance(one, str) else one for one in candidates])


def test_cases_cover_six_languages_and_every_kind() -> None:
    languages = Counter(case.language for case in CASES.values())
    assert set(languages) == {"en", "zh", "ja", "de", "es", "fr"}
    assert min(languages.values()) >= 4
    kinds = {case.kind for case in CASES.values()}
    assert kinds == {
        "attribution",
        "dates",
        "facts",
        "junk",
        "negation",
        "numbers",
        "question",
        "repeats",
        "supersede",
    }


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.facts], ids=lambda case: case.name)
def test_what_was_said_holds_every_expected_fact(case: Case) -> None:
    """A case must be answerable: its facts are told by its own words, and nothing `wrong` is."""
    said = " ".join(turn.text for turn in [*case.request.earlier, *case.request.turns])
    assert [fact for fact in case.facts if not fact.told_by(said)] == []
    assert [fact for fact in case.wrong if fact.told_by(said)] == []


def test_a_lost_negation_is_wrong_and_a_kept_one_is_found() -> None:
    assert judged("en-negation", "User can’t eat shellfish").found == 1
    turned = judged("en-negation", "User eats shellfish")
    assert (turned.found, turned.wrong) == (0, ["User eats shellfish"])


def test_side_date_and_superseded_memory_count_where_asked_for() -> None:
    assert judged("en-assistant", Candidate("Assistant recommended the 85 mm lens")).found == 0
    assert judged("en-assistant", Candidate("The 85 mm lens is recommended", attributed_to="assistant")).found == 1
    assert judged("en-date-past", "User ran a marathon on 2026-05-19").found == 0
    assert judged("en-supersede", "User drives a Skoda").found == 0


def test_what_is_beside_told_again_or_known_is_told_apart() -> None:
    found = judged("en-repeats", "User prefers tea over coffee", "User likes tea more than coffee", "User is nice")
    assert (found.found, found.again, found.beside) == (1, ["User likes tea more than coffee"], ["User is nice"])
    assert judged("en-known", "User lives in Ghent") == Judged()


def test_a_text_in_another_language_is_counted() -> None:
    assert judged("zh-facts", "林澜在杭州的云杉科技工作", "Lin Lan works in Hangzhou").in_language == 1


def test_the_rules_lose_no_negation_number_or_name() -> None:
    with by_rules() as (name, extractor, counting):
        whole = run(name, extractor, counting, list(CASES.values()), lambda _: None)
    kept = {
        one.case.name: one.judged.found for one in whole.runs if one.case.kind in ("facts", "negation", "numbers")
    }
    assert kept == {name: len(CASES[name].facts) for name in kept}


def bench(server: ModelServer, *more: str) -> Any:
    words = ["extract", "--model", "double", "--base-url", server.url, "--timeout", "5", *more]
    return CliRunner().invoke(app, words)


def test_a_run_tells_facts_ungrounded_junk_calls_and_failures(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.chat.script(
            memories("User moved to Utrecht", "User works as a nurse", "User has a dog called Pip"),
            memories("User can eat shellfish"),
        )
        server.chat.default = Reply(200, {"choices": [{"message": {"content": "no JSON here"}}]})
        out, samples = tmp_path / "report.md", tmp_path / "report.json"
        ran = bench(server, "--only", "en-", "--out", str(out), "--json", str(samples))
        assert ran.exit_code == 0, ran.output
        page, told = out.read_text(encoding="utf-8"), json.loads(samples.read_text(encoding="utf-8"))["details"]
    assert "| en-facts | 3/3 | 3 | 0 | 0 | 0 | 0 | 3/3 | 1 | 100 | 20 |" in page
    assert "| en-negation | 0/1 | 0 | 0 | 0 | 0 | 1 | – | 1 |" in page
    assert "negation differs" in page
    assert told["en-numbers"]["ended"] == "model_output_invalid"
    assert "| en-numbers | 0/3 | 0 | 0 | 0 | 0 | 0 | – | 2 |" in page  # asked twice


def test_an_endpoint_that_is_away_ends_with_a_sentence() -> None:
    with ModelServer() as server:
        server.chat.default = error(503, "down for the night")
        ran = bench(server)
        assert len(server.chat.requests) == 3
    assert ran.exit_code == 1
    assert "down for the night" in " ".join(ran.output.split())


def test_no_model_and_no_case_are_refused() -> None:
    for words, reason in ((["extract"], "--model"), (["extract", "--rules", "--only", "xx"], "no case begins")):
        ran = CliRunner().invoke(app, words, env={"MEMLANE_LLM_MODEL": ""})
        assert ran.exit_code == 1
        assert reason in ran.output


def test_the_report_shows_texts_only_where_something_is_amiss() -> None:
    with ModelServer() as server:
        server.chat.default = memories("User | lives in Ghent")
        counting = Counting(server.chat_model())
        whole = run("double", ModelExtractor(counting), counting, [CASES["en-known"]], lambda _: None)
    page = report(whole, "memlane bench extract").markdown()
    assert "User \\| lives in Ghent" in page
