"""The ranking as arithmetic: what must hold for any candidates, and what each kind of evidence does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.abstention import BestHit, Nearness, contrast, convincing, doubtful
from core.domain.decay import decay_factor
from core.domain.neighbourhood import Place
from core.domain.ranking import PARTS, Asked, Candidate, Scale, fuse
from core.domain.ranking_params import COLLECTING, DEFAULT, POINTED, Weights
from core.domain.temporal import TimeAsked, TimeTold, temporal_match

_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_SCALE = Scale(0.75, 0.94)
_ANY = Asked()


def _place(position: int, *, lane: str = "lane", said_at: datetime = _NOON) -> Place:
    return Place("scope", lane, position, said_at)


def _candidate(number: int, **evidence: object) -> Candidate:
    """One that stands alone, unless `place` says otherwise."""
    return replace(Candidate(UUID(int=number), _place(10 * number)), **evidence)  # type: ignore[arg-type]


_scores = st.floats(0, 200, allow_nan=False)
_candidates = st.lists(
    st.builds(
        Candidate,
        id=st.integers(1, 40).map(lambda number: UUID(int=number)),
        place=st.builds(_place, st.integers(0, 30), lane=st.sampled_from(["a", "b"])),
        cosine=st.none() | st.floats(-1, 1, allow_nan=False),
        bm25=_scores,
        bm25_ctx=_scores,
        entity=_scores,
        said_by_subject=st.booleans(),
        question=st.booleans(),
        told=st.just(TimeTold(((date(2026, 5, 1), date(2026, 5, 2)),), date(2026, 5, 3))) | st.just(TimeTold()),
        superseded=st.booleans(),
        replaced_by=st.none() | st.integers(1, 40).map(lambda number: UUID(int=number)),
    ),
    max_size=25,
    unique_by=lambda candidate: candidate.id,
)
_asked = st.builds(
    Asked,
    time=st.builds(TimeAsked, st.just(((date(2026, 5, 1), date(2026, 5, 1)),)) | st.just(()), st.booleans()),
    collecting=st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(_candidates, _asked, st.none() | st.floats(0.7, 0.9))
def test_scores_lie_in_range_descend_and_are_the_sum_of_their_parts(
    candidates: list[Candidate], asked: Asked, floor: float | None
) -> None:
    ranked = fuse(candidates, asked, replace(_SCALE, cosine_floor=floor))
    scores = [hit.score for hit in ranked]
    assert {hit.id for hit in ranked} == {candidate.id for candidate in candidates}
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    for hit in ranked:
        assert tuple(hit.breakdown) == PARTS
        assert all(part >= 0 for part in hit.breakdown.values())
        assert sum(hit.breakdown.values()) == pytest.approx(hit.score, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(_candidates, _asked, st.randoms())
def test_the_order_of_the_lists_changes_no_bit(candidates: list[Candidate], asked: Asked, random: object) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse(shuffled, asked, _SCALE) == fuse(candidates, asked, _SCALE)


@settings(max_examples=60, deadline=None)
@given(_candidates, st.integers(0, 10))
def test_asking_for_fewer_gives_the_same_ones(candidates: list[Candidate], most: int) -> None:
    assert fuse(candidates, _ANY, _SCALE, most=most) == fuse(candidates, _ANY, _SCALE)[:most]


@pytest.mark.parametrize("weights", [POINTED, COLLECTING])
def test_weights_add_up_to_one(weights: Weights) -> None:
    assert sum(vars(weights).values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "stronger",
    [{"cosine": 0.9}, {"bm25": 9.0}, {"bm25_ctx": 9.0}, {"entity": 9.0}, {"said_by_subject": True}],
    ids=lambda evidence: next(iter(evidence)),
)
def test_each_kind_of_evidence_lifts_a_memory(stronger: dict[str, object]) -> None:
    weak = {"cosine": 0.8, "bm25": 1.0, "bm25_ctx": 1.0, "entity": 1.0}
    ranked = fuse([_candidate(1, **weak), _candidate(2, **weak | stronger)], _ANY, _SCALE)
    assert ranked[0].id == UUID(int=2)
    assert ranked[0].score > ranked[1].score


def test_an_answer_is_found_by_the_question_before_it() -> None:
    question = _candidate(1, place=_place(1), cosine=0.92, question=True)
    answer = _candidate(2, place=_place(2), cosine=0.78)
    elsewhere = _candidate(3, place=_place(50), cosine=0.78)
    next_day = _candidate(4, place=_place(3, said_at=_NOON + timedelta(days=1)), cosine=0.78)
    ranked = {hit.id.int: hit.score for hit in fuse([question, answer, elsewhere, next_day], _ANY, _SCALE)}
    assert ranked[2] > ranked[3] == ranked[4]


def test_a_fact_that_stands_alone_is_not_put_behind_a_turn_among_strangers() -> None:
    alone = _candidate(1, cosine=0.88)
    turn = _candidate(2, place=_place(101), cosine=0.88)
    strangers = [_candidate(3, place=_place(100), cosine=0.76), _candidate(4, place=_place(102), cosine=0.76)]
    assert fuse([alone, turn, *strangers], _ANY, _SCALE)[0].id == alone.id


def test_the_newest_truth_comes_first_through_a_whole_chain() -> None:
    oldest = _candidate(1, cosine=0.93, superseded=True, replaced_by=UUID(int=2))
    older = _candidate(2, cosine=0.90, superseded=True, replaced_by=UUID(int=3))
    newest = _candidate(3, cosine=0.76)
    ranked = fuse([oldest, older, newest], _ANY, _SCALE)
    assert [hit.id.int for hit in ranked] == [3, 2, 1]


def test_memories_that_replace_each_other_in_a_ring_do_no_harm() -> None:
    ring = [_candidate(n, cosine=0.9, superseded=True, replaced_by=UUID(int=3 - n)) for n in (1, 2)]
    assert len(fuse(ring, _ANY, _SCALE)) == 2


def test_no_candidates_give_no_hits() -> None:
    assert fuse([], _ANY, _SCALE) == []


_MAY = (date(2026, 5, 1), date(2026, 5, 31))


@pytest.mark.parametrize(
    ("asked", "told", "match"),
    [
        (TimeAsked((_MAY,)), TimeTold(((date(2026, 5, 7), date(2026, 5, 7)),)), 1.0),
        (TimeAsked((_MAY,)), TimeTold((), date(2026, 5, 7)), 0.5),
        (TimeAsked((_MAY,)), TimeTold(((date(2024, 5, 7), date(2024, 5, 7)),)), 0.0),
        (TimeAsked((), when=True), TimeTold(((date(2024, 5, 7), date(2024, 5, 7)),)), 0.6),
        (TimeAsked((), when=True), TimeTold((), date(2026, 5, 7)), 0.0),
        (TimeAsked(), TimeTold(((date(2026, 5, 7), date(2026, 5, 7)),)), 0.0),
    ],
    ids=["about that month", "said in that month", "another year", "asks when", "no time told", "no time asked"],
)
def test_temporal_match(asked: TimeAsked, told: TimeTold, match: float) -> None:
    assert temporal_match(asked, told) == match


def test_a_day_near_the_one_asked_for_counts_less_the_farther_it_is() -> None:
    asked = TimeAsked(((date(2026, 5, 10), date(2026, 5, 10)),))
    matches = [temporal_match(asked, TimeTold(((date(2026, 5, day), date(2026, 5, day)),))) for day in range(10, 28)]
    assert matches == sorted(matches, reverse=True)
    assert matches[0] == 1.0
    assert matches[-1] == 0.0


@pytest.mark.parametrize(
    ("best", "doubt"),
    [
        (BestHit(evidence=0.1, coverage=0.1), True),
        (BestHit(evidence=0.4, coverage=0.1), False),
        (BestHit(evidence=0.1, coverage=1.0), False),
    ],
    ids=["nothing", "all together", "words alone"],
)
def test_meaning_is_asked_alone_only_where_all_other_evidence_is_weak(best: BestHit, doubt: bool) -> None:
    assert doubtful(best, DEFAULT) is doubt


def test_across_languages_less_contrast_convinces() -> None:
    assert not convincing(0.3, False, DEFAULT)
    assert convincing(0.3, True, DEFAULT)
    assert not convincing(0.2, True, DEFAULT)
    assert convincing(0.5, False, DEFAULT)


_WEEK = timedelta(days=7)


def test_decay_is_neutral_after_a_week_without_use() -> None:
    assert decay_factor(_NOON, _NOON - _WEEK, []) == pytest.approx(1.0)


def test_decay_stays_in_its_range_and_falls_with_age() -> None:
    ages = [timedelta(seconds=0), timedelta(days=1), _WEEK, timedelta(days=365), timedelta(days=36_500)]
    factors = [decay_factor(_NOON, _NOON - age, []) for age in ages]
    assert factors == sorted(factors, reverse=True)
    assert all(0.3 <= factor <= 1.5 for factor in factors)


def test_use_keeps_an_old_memory_near_and_only_twenty_uses_count() -> None:
    old, used = _NOON - timedelta(days=400), [_NOON - timedelta(days=day) for day in range(1, 31)]
    assert decay_factor(_NOON, old, used[:1]) > decay_factor(_NOON, old, [])
    assert decay_factor(_NOON, old, used) == decay_factor(_NOON, old, used[:20])
    assert decay_factor(_NOON, old, [_NOON] * 20) <= 1.5


def test_cosines_below_the_calibrated_range_still_order() -> None:
    """As between languages, where the answer itself may lie there."""
    ranked = fuse([_candidate(number, cosine=0.70 + number / 100) for number in (1, 3, 2)], _ANY, _SCALE)
    assert [hit.id.int for hit in ranked] == [3, 2, 1]


def _contrast(*nearest: tuple[float, float]) -> float:
    return contrast([Nearness(*one) for one in nearest], _SCALE, DEFAULT)


def test_contrast_is_what_the_best_has_above_the_others_not_its_height() -> None:
    high_but_flat = _contrast((0.84, 0.05), (0.82, 0.04), (0.82, 0.04), (0.81, 0.03))
    low_but_apart = _contrast((0.82, 0.05), (0.76, 0.00), (0.75, -0.01), (0.75, 0.00))
    assert low_but_apart > high_but_flat
    assert _contrast() == 0.0


def test_a_memory_near_to_every_question_does_not_stand_out() -> None:
    """Whatever its cosine: it has no more of it than neutral questions have."""
    near_to_all = _contrast((0.88, 0.01), (0.80, 0.01), (0.80, 0.00), (0.79, 0.00))
    near_to_this = _contrast((0.84, 0.06), (0.80, 0.01), (0.80, 0.00), (0.79, 0.00))
    assert near_to_all < DEFAULT.convincing_contrast_foreign < DEFAULT.convincing_contrast < near_to_this


def test_memories_that_all_answer_do_not_hide_each_other() -> None:
    assert _contrast((0.90, 0.12), (0.90, 0.12), (0.89, 0.11)) >= DEFAULT.convincing_contrast
    assert _contrast((0.90, 0.12)) >= DEFAULT.convincing_contrast
