"""Scripts: which characters belong together, as pieces of regular expressions."""

from __future__ import annotations

import re

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd々〇"
KANA = "\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"
HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f"
# Scripts written without spaces between words; \w alone would tear vowel signs off.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
INDIC = "\u0900-\u0dff"
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"

CJK = HAN + KANA + HANGUL
is_cjk = re.compile(f"[{CJK}]").search
is_han = re.compile(f"[{HAN}]").search
is_kana = re.compile(f"[{KANA}]").search
