"""Sentence segmentation for spaced and CJK scripts, without a model.

A border is a terminator with its closing quotes, followed by white space (Latin) or by anything (CJK), or a
line break. Abbreviations, initials, decimals, ordinals, URLs, e-mail addresses, ellipses and code do not end
a sentence.
"""

from __future__ import annotations

import re

from core.text.lang.abbreviations import ABBREVIATIONS, WORDS_TOO

_CLOSERS = "\"'”’»」』）)\\]】》〉*_"
_BORDER = re.compile(
    rf"(?P<cjk>[。！？｡…]+[{_CLOSERS}]*(?!\s*[，、,]))"
    rf"|(?P<latin>[.!?…।؟]+[{_CLOSERS}]*)(?=\s|$|[\u3400-\u9fff])"
    r"|(?P<line>[ \t]*(?:\r\n?|\n|\u2028|\u2029)\s*)"
    r"|(?P<semi>；)"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LAST_WORD = re.compile(r"[\w.]+\Z")
_BULLET = re.compile(r"(?:[-*•·–]|\(?\d{1,3}[.)、）])\Z")
_NEXT = re.compile(r"\s*[\"'“‘«(\[]*([^\s])")
_LETTER = re.compile(r"[^\W_]")
_MONTHS_DE = re.compile(
    r"\s*(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez|jahrhundert|stock|klasse)", re.IGNORECASE
)


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, trimmed, none empty; joined they hold every letter of it."""
    shielded = [match.span() for match in _CODE.finditer(text)]
    found: list[str] = []
    start = 0
    for match in _BORDER.finditer(text):
        if match.start() < start or _within(match.start(), shielded) or not _ends(text, start, match):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return _joined([sentence for sentence in found if sentence])


def _within(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(begin <= position < end for begin, end in spans)


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Is this terminator the end of a sentence?"""
    before = text[start : match.start()]
    if match.lastgroup == "line":
        return _line_ends(before, text[match.end() : match.end() + 1], match.group())
    if match.lastgroup != "latin" or not match.group().startswith(".") or match.group().startswith("..."):
        return not (match.lastgroup == "latin" and _lower_next(text, match.end()) and "…" in match.group())
    if match.group().startswith("..") and _lower_next(text, match.end()):
        return False
    word = _LAST_WORD.search(before[-40:])
    last = word.group().casefold() if word else ""
    if not last:
        return bool(before.strip())
    if last in ABBREVIATIONS:
        return last in WORDS_TOO and _upper_next(text, match.end())
    if len(last) == 1 and last.isalpha() and last not in "i":  # an initial: "J. Smith"
        return False
    if last.isdigit() and len(last) <= 2:  # "am 3. Mai", "1. first"
        return not (before.strip() == last or _MONTHS_DE.match(text, match.end()))
    return True  # also before a small letter: chat is often written without capitals


def _line_ends(before: str, following: str, gap: str) -> bool:
    """A line break inside a wrapped paragraph goes on when the next line begins with a small letter."""
    return len(gap.splitlines()) > 1 or not (following.islower() and len(before) > 50)


def _lower_next(text: str, position: int) -> bool:
    following = _NEXT.match(text, position)
    return bool(following and following.group(1).islower())


def _upper_next(text: str, position: int) -> bool:
    following = _NEXT.match(text, position)
    return following is None or following.group(1).isupper()


def _joined(parts: list[str]) -> list[str]:
    """Bullets, and parts without any letter or digit (an emoji, a lone quote), go with a neighbour."""
    out: list[str] = []
    pending = ""
    for part in parts:
        if _BULLET.match(part):
            pending = f"{pending} {part}".strip()
        elif not _LETTER.search(part) and out and not pending:
            out[-1] = f"{out[-1]} {part}"
        else:
            out.append(f"{pending} {part}".strip())
            pending = ""
    return [*out, pending] if pending else out
