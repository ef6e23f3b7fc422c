"""What a query asks: its search terms, the names in it, and the time it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True)
class QueryTerms:
    """`terms` and `names` are what the sparse lists are asked; `keys` are the same names, readable."""

    terms: Sparse
    names: Sparse
    keys: frozenset[str]
    time: TimeAsked


def analyse(text: str, reference: datetime) -> QueryTerms:
    """`reference` is the now of expressions like "last week"."""
    keys = query_keys(text)
    spans = tuple((found.start, found.end) for found in mentions(text, reference))
    return QueryTerms(
        terms=bm25.query(text),
        names=entity_sparse(keys),
        keys=frozenset(keys),
        time=TimeAsked(spans, when=bool(_WHEN.search(fold(text)))),
    )
