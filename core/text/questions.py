"""Is a sentence a question, with or without its mark, or a request?"""

from __future__ import annotations

import re

from core.text.lang.chatter import IMPERATIVE, LEAD, STANDING
from core.text.normalise import fold

_MARKED = re.compile(r"[?？]|[吗嗎呢][。.!！]?\s*$|(?:です|ます|でしょう|ました|の)か[。.]?\s*$")
# Typed without a mark. Question words also begin statements ("When I was five …"), so a verb must follow them.
_OPENERS = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|hey|hi|well|oh)[, ]+)?(?:"
    r"(?:how|what|when|where|why|who)(?:'s|'re| (?!i\b|you\b|he\b|she\b|it\b|we\b|they\b)\w+)?? (?:do|does|did"
    r"|is|are|was|were|can|could|should|would|"
    r"will|shall|have|has|to|many|much|long|often|about|if|not)\b|(?:what|who|where|when|how)(?:'s|'re)\b"
    r"|(?:do|does|did|is|are|was|were|can|could|should|would|will|have|has) (?:i|you|he|she|it|we|they|there"
    r"|the|a|my|"
    r"your|this|that|any|anyone)\b"
    r"|(?:wie|wo|was|wann|warum|wieso|wer|woher|wohin|welche[rsnm]?|wie viele?) \w+ (?:ich|du|er|sie|es|man|wir|ihr|"
    r"die|der|das|den|mein\w*|dein\w*|ein\w*)\b"
    r"|(?:cómo|qué|cuándo|dónde|quién(?:es)?|cuál(?:es)?|cuánt[oa]s?|por qué|para qué)\b"
    r"|(?:comment|pourquoi|combien|est-ce qu\w*|qu'est-ce qu\w*|quand est-ce|où (?:est|sont|se)|qui est"
    r"|quel(?:le)?s? (?:est|sont))\b"
    r")",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?:,\s*|\s+)(?:right|eh|huh|isn'?t it|aren'?t (?:they|you|we)|don'?t (?:you|they|we)(?: think)?|you know"
    r"|doesn'?t it|"
    r"wasn'?t it|oder|nicht wahr|gell|verdad|no|n'est-ce pas|hein)\s*[?？]\s*$|(?:对吧|對吧|是吧|对不对"
    r"|でしょう?|よね)[?？]\s*$",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"^(?:请问)?(?:怎么|怎样|如何|为什么|為什麼|为何|谁|誰|哪|什么|多少|几点)"
    r"|(?<!没)(?<!没有)(?<!知道)(?<!知道为)(?:什么|什麼|哪里|哪裡|哪儿|多少|几点)(?![^，。]{0,4}[都也])"
    r"|(?:是不是|有没有|能不能|会不会|要不要|好不好|可不可以)"
)
_JAPANESE = re.compile(r"^(?:何|誰|どこ|いつ|なぜ|どう|どの|どちら|いくら)[^。]{0,20}(?:か|の|ですか|ますか)?$")


def without_tag(sentence: str) -> str:
    """ "It is cold." of "It is cold, isn't it?": a statement that only seeks assent."""
    tag = _TAG.search(sentence)
    return f"{sentence[: tag.start()]}." if tag else sentence


def asks(sentence: str) -> bool:
    """True for a question in any of the languages known; an exclamation or a tag question never is one."""
    if _TAG.search(sentence):
        return False
    if _MARKED.search(sentence):
        return True
    if sentence.rstrip().endswith(("!", "！")):
        return False
    return bool(_OPENERS.search(sentence) or _CHINESE.search(sentence) or _JAPANESE.search(sentence.strip()))


def is_request(sentence: str) -> bool:
    """Wants something done now; a wish for all times ("always answer in French") is no request but a fact."""
    folded = LEAD.sub("", fold(sentence))
    return IMPERATIVE.search(folded) is not None and not STANDING.search(folded)
