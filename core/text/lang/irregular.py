"""Irregular English forms, which no suffix rule brings home: "went" → "go", "children" → "child"."""

from __future__ import annotations

_FORMS = """
arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began begun; bend bent;
bite bit bitten; blow blew blown; break broke broken; bring brought; build built; burn burnt; buy bought; catch
caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream
dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought;
find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid
hidden; hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt; learn
learnt; leave left; lend lent; lie lain; light lit; lose lost; make made; mean meant; meet met; pay paid; prove
proven; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold;
send sent; sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung;
sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; spoil spoilt; stand
stood; steal stole stolen; stick stuck; strike struck; strive strove; swear swore sworn; sweep swept; swim swam
swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; weave wove woven; win won; write wrote written; child
children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice; person people; wife wives; life
lives; knife knives; leaf leaves; wolf wolves; shelf shelves; half halves
"""
BASE = {
    form: forms[0] for line in _FORMS.replace("\n", " ").split(";") if (forms := line.split()) for form in forms[1:]
}
