"""The date tables by language code."""

from __future__ import annotations

from core.text.lang.calendar import Calendar
from core.text.lang.dates_cjk import CHINESE, JAPANESE
from core.text.lang.dates_latin import ENGLISH, FRENCH, GERMAN, SPANISH

CALENDARS: dict[str, Calendar] = {
    "en": ENGLISH,
    "de": GERMAN,
    "es": SPANISH,
    "fr": FRENCH,
    "zh": CHINESE,
    "ja": JAPANESE,
}
