"""Words that a faithful summary may add: relations, reporting, time. They claim little by themselves."""

from __future__ import annotations

from core.text.lang import words

PARAPHRASE = words(
    """named name names called has have had own owns owned owning live lives lived living work works worked working
    is are be being been like likes liked dislike dislikes prefer prefers preferred want wants wanted plan plans
    planned
    planning need needs ask asks asked asking inquire inquired inquires request requests requested question know knows
    say says said mention mentions mentioned state states stated told tell report reported express expressed
    currently recently previously formerly former current previous past future usually often regularly always
    sometimes now today since still already also ago later soon first last next year years old age aged month months
    week weeks day days date time birthday born turn turns turned member members person people man woman child
    pay pays paid cost costs earn earns amount total price earned salary income
    do does did doing make makes made go goes went going get gets got take takes took use uses used using visit
    visited travel traveled travelled trip move moved moving stay stayed departs depart departure arrive arrives
    due deadline scheduled located location place city country home residence job profession occupation
    study studies studied studying learn learns learned learning
    interested interest enjoy enjoys enjoyed love loves loved favorite favourite hobby
    explanation information details help advice recommendation recommendations looking seeking search searching
    can could able will would may might should must unable
    km kilometre kilometres kilometers miles kg kilos grams hours minutes hour minute euro euros dollar dollars pounds
    percent their his her its him them they he she someone something one another other own
    heißt heissen heisst namens wohnt lebt arbeitet hat ist mag möchte will plant fragt sucht gefragt gesagt erwähnt
    derzeit aktuell früher kürzlich seit jahre jahren alt monate tage besitzt liegt beträgt lief laufen gelaufen
    isst esse trinkt liebt hasst aufgehört allergie person leute menschen kommt geht nimmt man geboren
    llama llamado llamada vive trabaja tiene gusta quiere prefiere planea pregunta preguntó busca años actualmente
    antes persona personas come comer bebe tenido encanta
    s'appelle appelle habite vit travaille aime veut préfère demande cherche mange boit adore ans actuellement
    avant personne"""
)
REPORTING = words(
    """asked asks asking wants wanted want interested curious wonders wondered inquired inquires requested requests
    looking seeking seeks needs sought searching likes fragt fragte gefragt wissen sucht suchte möchte will bittet bat
    pregunta preguntó quiere busca pide demande demandé cherche veut souhaite"""
)
REPORTING_CJK = (
    "问",
    "問",
    "想知道",
    "想了解",
    "询",
    "詢",
    "想找",
    "想要",
    "寻找",
    "请求",
    "希望",
    "聞",
    "知りたい",
    "尋ね",
    "探し",
    "質問",
)
# Han characters of the same kind: being called, living, working, asking, time words, measures.
PARAPHRASE_HAN = frozenset(
    "名叫称為为是有住在位于工作做从来自和的了着过已经现目前曾年月日天岁周个只条位人名次岁问想知道询需要需求将会能可以喜欢爱负责者员其中共约今去明昨者所被成家他她它方聞话說说"
)

# Common nouns a memory may begin with; a capital there names nobody.
OPENING_NOUNS = words(
    """device machine computer laptop server phone email address password code pin key locker ticket order invoice
    account budget price salary rent flight train bus hotel trip holiday vacation weather deadline meeting appointment
    project task report team office company client customer manager product service website app software data file
    system error issue problem solution result test exam course class lesson homework degree school university
    breakfast lunch dinner food meal recipe coffee tea water wine beer music song book movie film show game sport
    football soccer tennis yoga gym workout health doctor dentist medication medicine allergy diet house home flat
    apartment room garden car bike dog cat puppy kitten fish bird baby gift party wedding event plan goal idea
    hobby interest favorite favourite preference language native morning evening weekend guest visitor neighbour
    neighbor landlord tenant wifi network size color colour model version release deployment backup database
    gerät rechner server passwort adresse schließfach fahrkarte auftrag rechnung konto preis gehalt miete flug
    zug hotel
    reise urlaub wetter termin treffen projekt aufgabe bericht büro firma kunde kundin chef produkt dienst seite
    fehler
    problem lösung ergebnis prüfung kurs unterricht schule frühstück essen rezept kaffee tee wasser wein bier
    musik lied
    buch film spiel sport arzt ärztin medikament haus wohnung zimmer garten auto fahrrad hund katze baby geschenk
    feier
    hochzeit plan ziel idee hobby sprache"""
)
