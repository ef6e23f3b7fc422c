"""What a query asks: its search terms, the names in it, and the time it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from core.domain.ranking import Asked
from core.domain.temporal import TimeAsked
from core.text import bm25
from core.text.bm25 import Sparse
from core.text.dates import mentions
from core.text.entities import entity_sparse, query_keys
from core.text.normalise import fold

_WHEN = re.compile(
    r"\b(?:when|how long|how recently|what (?:day|date|month|year|time)|which (?:day|date|month|year)"
    r"|wann|wie lange|welche[rmns]? (?:tag|datum|monat|jahr)"
    r"|cu[aá]ndo|cu[aá]nto tiempo|qu[eé] (?:d[ií]a|fecha|mes|a[nñ]o)"
    r"|quand|combien de temps|quel(?:le)? (?:jour|date|mois|ann[eé]e))\b"
    r"|什么时候|什麼時候|何时|何時|哪天|哪年|几月|几号|多久|いつ|何日|何月|何年"
)
# Plural things, counts and comparisons: what they ask for is said in many places.
_COLLECTING = re.compile(
    r"^\W*(?:(?:in|on|at|to|for|with) )?(?:what|which) (?:(?:kind|type|sort)s?\b|(?:[\w'-]+ ){0,2}?\w+[^s\W]s\b)"
    r"|^\W*(?:what|where|who) (?:has|have|do|does)\b|\bhow many\b|\bboth\b|\bin common\b|\ball (?:the|of)\b"
    r"|^\W*welche (?:\w+ ){0,2}?\w+(?:n|e|er|s)\b|\bwie viele\b|\bbeide[ns]?\b|\bgemeinsam\b"
    r"|^\W*[¿]?(?:qué|cuáles) (?:\w+ ){0,2}?\w+s\b|\bcuánt[oa]s\b|\bamb[oa]s\b|\ben común\b"
    r"|^\W*quel(?:le)?s\b|\bcombien (?:de|d')(?! temps)|\btous les deux\b|\ben commun\b"
    r"|哪些|有多少|都有|都去|都喜欢|几[个位本次]|どんな|いくつ|どれくらい|何[人個冊回つ]"
)


@dataclass(frozen=True)
class QueryTerms:
    """`terms` and `names` are what the sparse lists are asked; `keys` are the same names, readable."""

    terms: Sparse
    names: Sparse
    keys: frozenset[str]
    asked: Asked


def analyse(text: str, reference: datetime) -> QueryTerms:
    """`reference` is the now of expressions like "last week"."""
    keys, folded = query_keys(text), fold(text)
    spans = tuple((found.start, found.end) for found in mentions(text, reference))
    return QueryTerms(
        terms=bm25.query(text),
        names=entity_sparse(keys),
        keys=frozenset(keys),
        asked=Asked(TimeAsked(spans, when=bool(_WHEN.search(folded))), bool(_COLLECTING.search(folded))),
    )


def coverage(query: str, text: str) -> float:
    """The share of a query's terms that a text has, 0..1; 0 for a query without terms."""
    asked = bm25.query(query).indices
    there = set(bm25.document(text).indices)
    return sum(index in there for index in asked) / len(asked) if asked else 0.0
