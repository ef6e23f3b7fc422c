"""Yes and no at the beginning of an answer, folded text."""

from __future__ import annotations

import re

NO = re.compile(
    r"^\W*(?:well,? |um,? |oh,? )?(?:no\b|nope|nah|never|none|not (?:really|yet|at all)|nein|nö|keine\w*|nie"
    r"|non\b|jamais|"
    r"nunca|ninguno|不|没|沒|没有|いいえ|いや|ない)"
)
YES = re.compile(
    r"^\W*(?:well,? |um,? |oh,? )?(?:yes|yeah|yep|yup|sure|of course|definitely|absolutely|i do\b|i am\b|ja\b"
    r"|doch|klar|"
    r"genau|sí\b|si\b|claro|oui|bien sûr|是|对|對|有|会|嗯|はい|うん|そう)"
)
