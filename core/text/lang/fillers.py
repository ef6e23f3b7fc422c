"""Words that may come and go without changing a statement, contractions, and how speakers name themselves."""

from __future__ import annotations

import re

from core.text.lang import words

FILLERS = words(
    """a an the really very just also so well actually quite truly simply that oh hey hi hello please definitely
    totally
    honestly basically to over too and i me user am is are be do does der die das den dem ein eine einen sehr
    wirklich auch ja doch halt eben ich bin ist el la los las un una muy realmente también yo soy es le les une très
    vraiment aussi je suis est"""
)
FILLERS_CJK = re.compile(
    "[的了呢啊吧呀哦]|真的|非常|很|其实|です|ます|だ(?=$|[。])|よ(?=$|[。])|ね(?=$|[。])|とても|本当に"
)
CONTRACTIONS = (
    (re.compile(r"\bcan'?t\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\bhas\b"), "have"),
    (re.compile(r"\b(?:doesn't|does not)\b"), "do not"),
    (re.compile(r"\b(?:user's|his|her|their)\b"), "my"),
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"\bwanna\b"), "want to"),
)
SUBJECTS = re.compile(
    r"^\s*(?:user|the user|用户|用戶|ユーザー|nutzer|usuario|utilisateur)\s*[:：]?|^\s*(?:我|私は|僕は)"
)
# Words around which order is meaning.
DIRECTED = re.compile(
    r"\b(?:over|than|rather|instead|before|after|from|to|als|lieber|vor|nach|von|que|antes|después|de|avant|après)\b"
    r"|比|更|胜过|先|再|之前|之后|より|から|まで|に"
)
