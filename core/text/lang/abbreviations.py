"""Abbreviations whose full stop ends no sentence, folded and without the stop."""

from __future__ import annotations

from core.text.lang import words

ABBREVIATIONS = words(
    """mr mrs ms dr prof rev hon st sr jr gen col capt lt sgt gov sen rep messrs vs etc e.g i.e cf al no nos vol fig
    eq ch sec pp ed eds approx dept est inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues
    wed thu thur thurs fri sat sun u.s u.k a.m p.m ph.d b.sc m.sc hr hrs min mins ft lb lbs oz ave blvd rd apt
    hr fr frl dipl ing mag z.b d.h u.a usw bzw ca evtl ggf inkl exkl nr str tel geb verh gest jhd mio mrd vgl
    sra srta ud uds d.a pág av avda núm ej p.ej m mm mme mlle mgr cie env"""
)
# Of these, the ones that are words too: before a capital they end a sentence ("I sat. Then …").
WORDS_TOO = words(
    "no nos sat sun mag sec rep gen min mins est fig col hon al co inc ltd corp etc usw a.m p.m mar mo fr vol sept"
)
