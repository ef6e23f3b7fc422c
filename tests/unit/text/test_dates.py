"""Date expressions of six languages, read on Wednesday 24 May 2023."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.text.dates import mentions

NOW = datetime.fromtimestamp(1684922400, UTC)
DAY = [
    ("I ran a marathon yesterday", "2023-05-23"),
    ("the day before yesterday", "2023-05-22"),
    ("three days ago I fell", "2023-05-21"),
    ("3 days ago", "2023-05-21"),
    ("in two days", "2023-05-26"),
    ("See you next Friday", "2023-06-02"),
    ("last Friday we ate out", "2023-05-19"),
    ("We went on Friday", "2023-05-19"),
    ("I mixed that up: my flight leaves on Friday", "2023-05-26"),
    ("Here is what happened: we went there on Friday", "2023-05-19"),
    ("On Friday: we went out", "2023-05-19"),
    ("I have an exam on Friday", "2023-05-26"),
    ("on May 7th it rained", "2023-05-07"),
    ("May 7, 2021", "2021-05-07"),
    ("7 May 2021", "2021-05-07"),
    ("the 7th of May 2021", "2021-05-07"),
    ("2021-05-07", "2021-05-07"),
    ("07.05.2021", "2021-05-07"),
    ("5/7/2021", "2021-05-07"),
    ("25/7/2021", "2021-07-25"),
    ("我昨天去了北京", "2023-05-23"),
    ("前天", "2023-05-22"),
    ("三天前", "2023-05-21"),
    ("上周五吃饭", "2023-05-19"),
    ("下周三开会", "2023-05-31"),
    ("2021年5月7日", "2021-05-07"),
    ("5月7日", "2023-05-07"),
    ("去年5月7日", "2022-05-07"),
    ("昨日走った", "2023-05-23"),
    ("おととい", "2023-05-22"),
    ("3日前に", "2023-05-21"),
    ("来週の金曜日", "2023-06-02"),
    ("vorgestern war ich krank", "2023-05-22"),
    ("gestern", "2023-05-23"),
    ("vor drei Tagen", "2023-05-21"),
    ("letzten Freitag", "2023-05-19"),
    ("am 3. Mai 2025", "2025-05-03"),
    ("übermorgen", "2023-05-26"),
    ("hace dos días compré pan", "2023-05-22"),
    ("ayer", "2023-05-23"),
    ("anteayer", "2023-05-22"),
    ("el viernes pasado", "2023-05-19"),
    ("el 3 de mayo de 2025", "2025-05-03"),
    ("pasado mañana", "2023-05-26"),
    ("il y a 3 jours", "2023-05-21"),
    ("hier", "2023-05-23"),
    ("avant-hier", "2023-05-22"),
    ("vendredi dernier", "2023-05-19"),
    ("le 3 mai 2025", "2025-05-03"),
    ("après-demain", "2023-05-26"),
    ("It happened on New Year's Eve", "2022-12-31"),
    ("at Christmas we will ski", "2023-12-25"),
    ("Silvester", "2022-12-31"),
    ("圣诞节", "2022-12-25"),
]
SPANS = [
    ("I moved to Porto last week", "2023-05-15", "2023-05-21"),
    ("this weekend", "2023-05-27", "2023-05-28"),
    ("last weekend", "2023-05-20", "2023-05-21"),
    ("two weekends ago", "2023-05-13", "2023-05-14"),
    ("next month", "2023-06-01", "2023-06-30"),
    ("last year", "2022-01-01", "2022-12-31"),
    ("in May 2026 we met", "2026-05-01", "2026-05-31"),
    ("in 2016", "2016-01-01", "2016-12-31"),
    ("last summer", "2022-06-01", "2022-08-31"),
    ("for four years", "2019-05-24", "2023-05-24"),
    ("上周", "2023-05-15", "2023-05-21"),
    ("下个月", "2023-06-01", "2023-06-30"),
    ("去年夏天", "2022-06-01", "2022-08-31"),
    ("先週、東京に行った", "2023-05-15", "2023-05-21"),
    ("来月", "2023-06-01", "2023-06-30"),
    ("昨年", "2022-01-01", "2022-12-31"),
    ("letzte Woche", "2023-05-15", "2023-05-21"),
    ("im Mai 2026", "2026-05-01", "2026-05-31"),
    ("letzten Sommer", "2022-06-01", "2022-08-31"),
    ("la semana pasada", "2023-05-15", "2023-05-21"),
    ("el mes que viene", "2023-06-01", "2023-06-30"),
    ("la semaine dernière", "2023-05-15", "2023-05-21"),
    ("We biked over the weekend and had fun", "2023-05-20", "2023-05-21"),
    ("any plans for the weekend", "2023-05-27", "2023-05-28"),
    ("half a year ago", "2022-11-01", "2022-11-30"),
    ("半年前", "2022-11-01", "2022-11-30"),
    ("in the next two months", "2023-05-24", "2023-07-31"),
    ("este fin de semana", "2023-05-27", "2023-05-28"),
    ("am Wochenende", "2023-05-27", "2023-05-28"),
    ("l'année prochaine", "2024-01-01", "2024-12-31"),
]


@pytest.mark.parametrize(("text", "day"), DAY)
def test_an_expression_names_one_day(text: str, day: str) -> None:
    (mention,) = mentions(text, NOW)
    assert (mention.start.isoformat(), mention.end.isoformat()) == (day, day)


@pytest.mark.parametrize(("text", "start", "end"), SPANS)
def test_an_expression_names_a_span_of_days(text: str, start: str, end: str) -> None:
    (mention,) = mentions(text, NOW)
    assert (mention.start.isoformat(), mention.end.isoformat()) == (start, end)


@pytest.mark.parametrize(
    "text",
    ["I may go", "March on!", "second to none", "the sun is out", "30.02.2023", "version 1.2.3", "他在家", "fin", ""],
)
def test_no_date_is_read_where_none_is(text: str) -> None:
    assert mentions(text, NOW) == []


def test_the_longest_reading_wins_and_mentions_keep_their_order() -> None:
    found = mentions("I left two weeks ago, on May 7th 2021 and again yesterday", NOW)
    assert [mention.text for mention in found] == ["two weeks ago", "on May 7th 2021", "yesterday"] or [
        mention.text for mention in found
    ] == ["two weeks ago", "May 7th 2021", "yesterday"]


def test_only_what_depends_on_the_speaking_time_is_relative() -> None:
    found = mentions("yesterday, on 2021-05-07, last week, May 7th", NOW)
    assert [mention.relative for mention in found] == [True, False, True, False]
