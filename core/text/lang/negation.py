"""How six languages deny. HARD words turn a statement round, SOFT ones lean against it without a "not"."""

from __future__ import annotations

import re

from core.text.lang import words

# Said of nearly anything, denying nothing; removed before the negators are counted.
IDIOMS = re.compile(
    r"\bno (?:problem|doubt|wonder|worries|matter|idea)\b|\bnot (?:only|just|to mention|at all a problem)\b"
    r"|\bcan(?:'t|not) wait\b|\bwhy not\b|\bcouldn't (?:agree|be happier|be more)\w*\b|\bnot bad\b|\bno way\b"
    r"|\bnothing but\b|\bno less than\b|\bif not\b|\bisn't it\b|\bdon't (?:worry|forget)\b|\bneedless\b"
    r"|\bnicht nur\b|\bnicht wahr\b|\bkein problem\b|\bkeine ahnung\b|\bno solo\b|\bno sólo\b|\bsin duda\b"
    r"|\bpas seulement\b|\bpas mal\b|\bn'est-ce pas\b|\bsans doute\b|\bne \w+ que\b"
    r"|不错|不錯|不过(?!敏)|不過(?!敏)|差不多|没关系|沒關係|没问题|不仅|不僅|不但|不管|不论|要不|对不起|對不起|不客气|不得不|不久|不同"
    r"|无论|無論|非常|除非|特别|特別|别的|別的|别人|別人|告别|性别|未来|未來|从来没想到|了不起|不断|不少|没想到|无锡|南非|非洲"
    r"|かもしれない|かもしれません|なければならない|なければなりません|なくてはいけない|ないといけない|に違いない|仕方ない"
    r"|少ない|危ない|じゃないか|ではないか|しか\w*ない|無料|無事|不動産|不思議"
)
HARD = words(
    """not no never none nobody nothing nowhere neither nor without cannot isn't aren't wasn't weren't don't doesn't
    didn't haven't hasn't hadn't won't wouldn't can't couldn't shouldn't mustn't mightn't needn't ain't dont doesnt
    didnt cant wont isnt wasnt
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand nirgends ohne weder
    nunca jamás jamas nada nadie ningún ninguno ninguna tampoco sin
    ne n pas jamais rien personne aucun aucune sans ni"""
)
HARD_CJK = re.compile(
    "不|没|沒|无法|無法|未|别(?!墅)|勿|"
    "从未|無し|なし(?!て)|ない|なかった|なく(?:て|なり|なった)|ません|ませんでした|ず(?:に|、|。|$)"
)
SOFT = words(
    """hate hates hated dislike dislikes disliked avoid avoids avoided avoiding allergic allergy intolerant
    intolerance
    refuse refuses refused stop stopped stops quit quits lack lacks lacking unable hardly barely rarely seldom fail
    failed fails cancel cancelled canceled reject rejected abandoned miss misses missed skip skips skipped except
    instead unlike
    vegetarian vegan
    hasse hasst hassen vermeide vermeidet meide meidet allergisch allergie aufgehört selten kaum
    verweigert odio odia odiar evito evita alérgico alérgica alergia dejé dejó detesto detesta incapaz déteste
    détester évite allergique arrêté arrête refuse incapable"""
)
SOFT_CJK = re.compile("讨厌|討厭|过敏|過敏|戒|避免|拒绝|拒絕|很少|嫌い|苦手|やめ|アレルギー|避け")
GIVEN_UP = re.compile(
    r"\b(?:gave|give|given|giving) up\b|\bgot rid of\b|\bran out of\b|\bcalled off\b|\bcut out\b|\bgab\w* \w+ auf\b"
)
QUITTING = re.compile(
    r"\b(?:stopped|quit|aufgehört|dejé|dejado|arrêté|no longer|not anymore)\b|戒|やめた|やめました|辞め"
)
LIKING = words(
    """like likes liked love loves loved enjoy enjoys enjoyed adore adores prefer prefers want wants can liebe
    liebt mag
    gern gerne kann kannst gusta encanta puede puedo quiere aime adore peut peux"""
)
LIKING_CJK = re.compile("喜欢|喜歡|爱|愛|能|可以|会|想|好き|できる|できます|られる|大好き")
