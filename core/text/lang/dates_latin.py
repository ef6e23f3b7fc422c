"""Dates in English, German, Spanish and French."""

from __future__ import annotations

from core.text.lang.calendar import Calendar, numbered, seasons, units

ENGLISH = Calendar(
    months=numbered(
        "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep "
        "october/oct november/nov december/dec",
        1,
    ),
    weekdays=numbered(
        "monday/mon tuesday/tues/tue wednesday/wed thursday/thurs/thur/thu friday/fri saturday/sat sunday/sun", 0
    ),
    units=units(
        day="day days", week="week weeks wk wks", month="month months", year="year years yr yrs",
        weekend="weekend weekends", hour="hour hours hr hrs", minute="minute minutes min mins",
    ),
    days={
        "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0,
        "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "earlier today": 0,
        "the day after tomorrow": 2, "day after tomorrow": 2, "tomorrow": 1, "the other day": -3,
    },
    numbers=numbered("a/an/one two/a_couple_of/a_couple/couple_of three/a_few/few four five/several six seven "
                      "eight nine ten eleven twelve", 1),
    seasons=seasons("spring summer autumn/fall winter"),
    holidays={
        "christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24), "new year's eve": (12, 31),
        "new year's day": (1, 1), "new year's": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31),
    },
    templates={
        "holiday": ("(?:on |at |for |last |this |next )?{holiday}",),
        "half_year_ago": ("half a year ago",),
        "weekend": ("(?:over|on|for|during|at) the weekend",),
        "coming": ("(?:in|over|for|during|within) the (?:next|coming) {n} {unit}",),
        "ago": ("{n} {unit} ago", "{n} {unit} (?:back|earlier)"),
        "ahead": ("in {n} {unit}(?:['’] time)?", "{n} {unit} from now"),
        "last": ("(?:last|(?:this )?past|previous) {unit}",),
        "this": ("this {unit}",),
        "next": ("(?:next|the coming|the following) {unit}",),
        "last_weekday": ("(?:last|this past|past) {weekday}", "{weekday} last week"),
        "next_weekday": ("next {weekday}", "{weekday} next week"),
        "on_weekday": ("(?:on|this) {weekday}", "{weekday_name}",),
        "coming_weekday": ("(?:by|until|till|for|to|this coming) {weekday}",),
        "date": (
            "{month}\\.? {day}(?:st|nd|rd|th)?(?:,? {year})?",
            "(?:the )?{day}(?:st|nd|rd|th)? (?:of )?{month}(?:,? {year})?",
        ),
        "month": (
            "(?:in|since|during|until|by|from|early|late|mid|around|of)[ -]{month}(?:,? (?:of )?{year})?",
            "{month},? (?:of )?{year}",
        ),
        "last_month": ("last {month}",),
        "next_month": ("next {month}",),
        "last_season": ("(?:last|this past) {season}",),
        "this_season": ("this {season}",),
        "next_season": ("next {season}",),
        "year": ("(?:in|since|by|from|until|around|of|back in) {year}",),
        "span": (
            "(?:for|over|during|in) (?:the )?(?:past |last )?{n} {unit}(?: now)?",
            "(?:the )?(?:past|last) {n} {unit}",
        ),
    },
    future=r"\b(?:will|won't|going to|gonna|plan\w*|upcoming|hope to|want to|looking forward)\b|'ll\b",
    past=r"\b(?:\w{2,}ed|was|were|went|had|did|got|made|took|came|saw|met|ran|bought|found|gave|told|left|won|lost|ate|"
    r"began|broke|built|caught|drove|felt|flew|hurt|kept|knew|led|paid|read|rode|said|sang|sat|sent|slept|spent|"
    r"stood|swam|taught|thought|threw|wore|wrote|became|brought|chose|fell|forgot|grew|heard|held|just)\b",
)  # fmt: skip
GERMAN = Calendar(
    months=numbered(
        "januar/jänner/jan februar/feb märz april/apr mai juni/jun juli/jul august/aug september/sept/sep "
        "oktober/okt "
        "november/nov dezember/dez",
        1,
    ),
    weekdays=numbered("montag/mo dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag", 0),
    units=units(
        day="tag tage tagen", week="woche wochen", month="monat monate monaten", year="jahr jahre jahren",
        weekend="wochenende wochenenden", hour="stunde stunden", minute="minute minuten",
    ),
    days={
        "vorgestern": -2, "gestern": -1, "gestern abend": -1, "gestern nacht": -1, "letzte nacht": -1, "heute": 0,
        "heute morgen": 0, "heute früh": 0, "heute abend": 0, "übermorgen": 2, "morgen früh": 1, "morgen": 1,
        "neulich": -3,
    },
    numbers=numbered("ein/einem/einer/einen/eine zwei/paar drei/einigen/ein_paar vier fünf sechs sieben acht neun "
                      "zehn elf zwölf", 1),
    seasons=seasons("frühling/frühjahr sommer herbst winter"),
    holidays={
        "weihnachten": (12, 25), "heiligabend": (12, 24), "silvester": (12, 31), "neujahr": (1, 1),
        "valentinstag": (2, 14), "halloween": (10, 31),
    },
    templates={
        "holiday": ("(?:an |zu |letztes )?{holiday}",),
        "half_year_ago": ("vor einem halben jahr",),
        "weekend": ("am wochenende", "übers wochenende"),
        "coming": ("in den (?:nächsten|kommenden) {n} {unit}",),
        "ago": ("vor {n} {unit}",),
        "ahead": ("in {n} {unit}",),
        "last": ("(?:(?:am|im) )?(?:letzte[nsrm]?|vergangene[nsrm]?|vorige[nsrm]?) {unit}",),
        "this": ("(?:(?:am|im) )?diese[nsrm]? {unit}",),
        "next": ("(?:(?:am|im) )?(?:nächste[nsrm]?|kommende[nsrm]?) {unit}",),
        "last_weekday": ("(?:am )?(?:letzte[nr]?|vergangene[nr]?) {weekday}",),
        "next_weekday": ("(?:am )?(?:nächste[nr]?|kommende[nr]?) {weekday}",),
        "on_weekday": ("(?:am|diesen|bis) {weekday}",),
        "date": ("{day}\\. ?{month}(?:,? {year})?",),
        "month": ("(?:(?:im|seit|anfang|mitte|ende|ab|bis) ){month}(?: {year})?", "{month} {year}"),
        "last_month": ("letzten {month}",),
        "next_month": ("nächsten {month}",),
        "last_season": ("letzten {season}",),
        "this_season": ("diesen {season}",),
        "next_season": ("nächsten {season}",),
        "year": ("(?:im jahr|seit|anfang|mitte|ende|in) {year}",),
        "span": ("(?:seit|für) {n} {unit}", "{n} {unit} lang"),
    },
    future=r"\b(?:werde|wird|werden|wirst|will|wollen|plane\w*|möchte\w*|kommende\w*)\b",
    past=r"\b(?:war|waren|hatte|hatten|wurde|ging|kam|bin|habe|hat|haben|ist|sind|machte|fuhr)\b.*|\bge\w+t\b",
)  # fmt: skip
SPANISH = Calendar(
    months=numbered(
        "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre", 1
    ),
    weekdays=numbered("lunes martes miércoles/miercoles jueves viernes sábado/sabado domingo", 0),
    units=units(
        day="día días dia dias", week="semana semanas", month="mes meses", year="año años",
        weekend="finde fines", hour="hora horas", minute="minuto minutos",
    ),
    days={
        "anteayer": -2, "antes de ayer": -2, "ayer": -1, "anoche": -1, "hoy": 0, "esta mañana": 0, "esta noche": 0,
        "esta tarde": 0, "pasado mañana": 2, "mañana": 1, "el otro día": -3,
    },
    numbers=numbered("un/una/uno dos/un_par_de tres/unos/unas/unos_pocos cuatro cinco seis siete ocho nueve diez "
        "once "
                      "doce", 1),
    seasons=seasons("primavera verano otoño invierno"),
    holidays={
        "navidad": (12, 25), "nochebuena": (12, 24), "nochevieja": (12, 31), "año nuevo": (1, 1),
        "san valentín": (2, 14), "halloween": (10, 31),
    },
    templates={
        "holiday": ("(?:en |para )?{holiday}",),
        "half_year_ago": ("hace medio año",),
        "weekend": ("el fin de semana",),
        "this_weekend": ("este fin de semana",),
        "coming": ("en l[oa]s próxim[oa]s {n} {unit}",),
        "ago": ("hace {n} {unit}",),
        "ahead": ("(?:dentro de|en) {n} {unit}",),
        "last": ("(?:el|la) {unit} pasad[oa]", "(?:el|la) pasad[oa] {unit}"),
        "last_weekend": ("(?:el )?fin de semana pasado", "(?:el )?pasado fin de semana"),
        "this": ("est[ea] {unit}",),
        "next": ("(?:el|la) próxim[oa] {unit}", "(?:el|la) {unit} (?:que viene|próxim[oa])"),
        "last_weekday": ("(?:el )?{weekday} pasado", "(?:el )?pasado {weekday}"),
        "next_weekday": ("(?:el )?{weekday} (?:que viene|próximo)", "(?:el )?próximo {weekday}"),
        "on_weekday": ("(?:el|este) {weekday}",),
        "date": ("(?:el )?{day} de {month}(?: (?:de|del) {year})?",),
        "month": (
            "(?:en|desde|a principios de|a finales de|hasta) {month}(?: (?:de|del) {year})?",
            "{month} (?:de|del) {year}",
        ),
        "last_season": ("(?:el|la) {season} pasad[oa]",),
        "next_season": ("(?:el|la) próxim[oa] {season}",),
        "year": ("(?:en|desde|hasta) {year}",),
        "span": ("(?:durante|por|desde hace) {n} {unit}",),
    },
    future=r"\b(?:voy a|va a|vamos a|planeo|quiero|iré|será|próxim\w+)\b",
    past=r"\b(?:fui|fue|fueron|estuve|hice|tuve|vi|compré|\w+é|\w+ó|\w+aron|\w+ieron|he|ha|hemos)\b",
)  # fmt: skip
FRENCH = Calendar(
    months=numbered(
        "janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre novembre "
        "décembre/decembre", 1
    ),
    weekdays=numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0),
    units=units(
        day="jour jours", week="semaine semaines", month="mois", year="an ans année années",
        weekend="week-end weekend week-ends", hour="heure heures", minute="minute minutes",
    ),
    days={
        "avant-hier": -2, "avant hier": -2, "hier": -1, "hier soir": -1, "cette nuit": 0, "aujourd'hui": 0,
        "aujourd’hui": 0, "ce matin": 0, "ce soir": 0, "après-demain": 2, "après demain": 2, "demain": 1,
        "l'autre jour": -3,
    },
    numbers=numbered("un/une deux trois/quelques quatre cinq six sept huit neuf dix onze douze", 1),
    seasons=seasons("printemps été automne hiver"),
    holidays={
        "noël": (12, 25), "la saint-sylvestre": (12, 31), "le jour de l'an": (1, 1), "la saint-valentin": (2, 14),
        "halloween": (10, 31),
    },
    templates={
        "holiday": ("(?:à |pour )?{holiday}",),
        "weekend": ("(?:le|ce) week-?end",),
        "coming": ("dans les {n} (?:prochains |prochaines ){unit}",),
        "ago": ("il y a {n} {unit}", "voici {n} {unit}"),
        "ahead": ("dans {n} {unit}", "d['’]ici {n} {unit}"),
        "last": ("(?:(?:le|la) |l['’])?{unit} (?:derni(?:er|ère)|passée?)",),
        "this": ("(?:ce|cet|cette) {unit}",),
        "next": ("(?:(?:le|la) |l['’])?{unit} prochaine?",),
        "last_weekday": ("(?:le )?{weekday} dernier",),
        "next_weekday": ("(?:le )?{weekday} prochain",),
        "on_weekday": ("(?:(?:ce|le) )?{weekday}",),
        "date": ("(?:le )?{day}(?:er)? {month}(?: {year})?",),
        "month": ("(?:en|depuis|début|fin|mi-|au mois de|jusqu['’]en) ?{month}(?: {year})?", "{month} {year}"),
        "last_season": ("(?:l['’])?{season} derni(?:er|ère)",),
        "next_season": ("(?:l['’])?{season} prochaine?",),
        "year": ("(?:en|depuis) {year}",),
        "span": ("(?:pendant|depuis|durant) {n} {unit}",),
    },
    future=r"\b(?:vais|va|allons|prévois|veux|sera|serai|irai|prochaine?)\b",
    past=r"\b(?:ai|as|a|avons|avez|ont|suis|est|sommes|sont|étais|était|avait|avais)\b \w+(?:é|ée|és|i|u|is|it)\b",
)  # fmt: skip
