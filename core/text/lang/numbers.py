"""Number words, folded, by language family; values as decimal strings."""

from __future__ import annotations

from core.text.lang import words

_LISTS = {
    "en": """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""",
    "de": """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
        siebzehn achtzehn neunzehn zwanzig""",
    "es": """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
        diecisiete dieciocho diecinueve veinte""",
    "fr": """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
        dix-huit dix-neuf vingt""",
}
_TENS = {
    "en": "thirty forty fifty sixty seventy eighty ninety hundred",
    "de": "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
    "es": "treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
    "fr": "trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix cent",
}
_ORDINALS = {
    "en": """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""",
    "de": "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
    "es": "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
    "fr": "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
}


def _values() -> dict[str, int]:
    values: dict[str, int] = {}
    for listed in _LISTS.values():
        values.update((word.casefold(), value) for value, word in enumerate(listed.split()))
    for listed in _TENS.values():
        values.update((word.casefold(), (value + 3) * 10) for value, word in enumerate(listed.split()))
    values |= {"dozen": 12, "dutzend": 12, "docena": 12, "douzaine": 12, "twice": 2, "zweimal": 2, "einmal": 1}
    values |= {"thousand": 1000, "tausend": 1000, "mil": 1000, "mille": 1000, "a dozen": 12, "couple": 2, "beide": 2}
    values |= {
        "both": 2,
        "ein": 1,
        "eine": 1,
        "einen": 1,
        "einem": 1,
        "einer": 1,
        "una": 1,
        "une": 1,
        "million": 10**6,
    }
    return values


WORDS = _values()
ORDINALS = {word.casefold(): i + 1 for listed in _ORDINALS.values() for i, word in enumerate(listed.split())}
ORDINALS |= {"twenty-first": 21, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70}
ORDINALS |= {
    "eightieth": 80,
    "ninetieth": 90,
    "zwanzigste": 20,
    "dreissigste": 30,
    "vierzigste": 40,
    "fünfzigste": 50,
}
# Words that are more often an article, a pronoun or a noun than a number: they support, but never demand.
WEAK = words("one un uno una une ein eine einen einem einer once second seconds sei seis sept neuf six mil")
CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2, "〇": 0}
CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
