"""Words that tell names apart: titles, organisation marks, surnames, and capitalised words that name nothing."""

from __future__ import annotations

from core.text.lang import words

TITLES = words(
    """mr mrs ms miss dr prof professor doctor sir lady lord dame madam mister herr frau fräulein señor señora sr sra
    don doña monsieur madame mademoiselle m mme mlle aunt auntie uncle grandma grandpa granny captain president
    coach judge father sister brother saint st onkel tante tía tío oncle"""
)
ORGANISATION = words(
    """inc ltd llc corp corporation company co gmbh ag kg ug sa sarl srl bv plc university college school institute
    hospital clinic bank ministry museum club association foundation team labs lab studio studios group agency
    universität hochschule schule verein krankenhaus universidad escuela hospital empresa université école
    entreprise library academy council department church"""
)
PLACE = words(
    """street road avenue park lake river mountain beach island city square valley forest airport station county
    bay strasse straße platz allee calle avenida plaza playa rue place plage mount fort port"""
)
PLACE_BEFORE = words(
    """in at near visit visited visiting toward towards leaving across around nach aus en desde hacia depuis vers
    chez bei
    à au"""
)
MOTION = words(
    """move moved moving go goes went going gone trip trips travel traveled travelled traveling travelling fly
    flew flying
    drive drove driving flight back relocated relocate relocating return returned come came coming viaje viajé
    fui ir voy
    mudé aller allé parti voyage am is are originally train bus ticket"""
)
PERSON_BEFORE = words(
    """with by friend brother sister mother father mum mom dad wife husband son daughter boss colleague cousin
    uncle aunt
    niece nephew neighbour neighbor named mit freund freundin bruder schwester mutter vater frau mann sohn
    tochter
    chef kollege kollegin con amigo amiga hermano hermana madre padre esposa marido hijo hija avec ami amie frère
    soeur
    sœur mère père femme mari fils fille dentist doctor teacher therapist manager partner girlfriend boyfriend
    roommate
    namens met"""
)
PERSON_AFTER = words(
    """says said told thinks thought likes loves hates lives works wants asked wohnt arbeitet sagt mag liebt
    hasst vive
    trabaja dice habite travaille dit aime"""
)
# Capitalised at the beginning of sentences, or by custom, without naming anything.
COMMON = words(
    """user users usuario utilisateur nutzer assistant ユーザー ai ok okay yes yeah yep yup no nope nah hi hey
    hello hallo hola
    bonjour salut ciao thanks thank danke gracias merci please bitte wow oh ah aw aww ooh ugh hmm haha lol omg great
    good nice cool awesome amazing wonderful fantastic perfect super sure right true exactly absolutely definitely
    totally really maybe perhaps actually honestly basically anyway well so sorry congrats congratulations bye
    goodbye cheers welcome today tomorrow yesterday tonight now then later soon recently lately last next since
    once twice also besides plus still just even not never always sometimes often usually every everyone everything
    someone something anyone anything nothing nobody people guys kids one two three four five six seven eight nine
    ten first second third another many much most both either neither each few lots got gotta gonna wanna let lets
    look see guess hope hoping love loved like liked feel feeling going been being having doing getting making
    taking trying looking speaking talking thinking working playing reading writing watching cooking painting
    running hiking swimming dancing singing music art life time day week month year morning evening night weekend
    family friend friends mom mum dad man woman boy girl god dear remember note recalled memory memories error
    ticket question answer tell ask show give make go come take can could would should will shall may might must
    do does did is are was were am has have had please explain how what when where why who which whose whom
    heute gestern morgen ja nein gut schön leider vielleicht hoy ayer mañana sí bueno hier aujourd'hui demain oui
    non bien ich du er sie wir ihr es mein meine el la los las un una mi yo le les un une mon ma je il elle on
    this that these those there here übrigens außerdem trotzdem deshalb eigentlich natürlich manchmal meistens danach
    jetzt später nämlich jedenfalls además entonces aunque también d'ailleurs donc alors puis ensuite"""
)
CALENDAR = words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar
    februar märz mai juni juli oktober dezember lunes martes miércoles jueves viernes sábado domingo enero febrero
    marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lundi mardi mercredi jeudi vendredi
    samedi dimanche janvier février mars avril juin juillet août septembre octobre novembre décembre mon tue tues
    wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec"""
)
# Small words that may stand inside a name: "Bank of England", "Ludwig van Beethoven".
INSIDE = words("of the de del la las los le van von den di da du st")
CHINESE_SURNAMES = words(
    """王 李 张 張 刘 劉 陈 陳 杨 楊 黄 黃 赵 趙 吴 吳 周 徐 孙 孫 马 馬 朱 胡 郭 何 高 林 罗 羅 郑 鄭 梁 谢
    謝 宋 唐 许 許 邓 鄧 冯 馮 韩 韓 曹 曾 彭 萧 肖 蔡 潘 田 董 袁 于 余 叶 葉 蒋 蔣 杜 苏 蘇 魏 程 吕 呂
    丁 沈 任 姚 卢 盧 傅 钟 鐘 姜 崔 谭 譚 廖 范 汪 陆 陸 金 石 戴 贾 賈 韦 韋 夏 邱 方 侯 邹 鄒 熊 孟 秦
    白 江 阎 薛 尹 段 雷 黎 史 龙 龍 陶 贺 賀 顾 顧 毛 郝 龚 龔 邵 万 钱 錢 严 嚴 覃 武 戚 莫 孔 向 汤 湯
    欧阳 司马 上官 诸葛"""
)
CHINESE_PLACE_ENDS = (
    "省",
    "市",
    "县",
    "區",
    "区",
    "镇",
    "村",
    "路",
    "街",
    "州",
    "岛",
    "島",
    "山",
    "湖",
    "町",
    "県",
    "都",
    "駅",
)
CHINESE_ORG_ENDS = (
    "公司",
    "集团",
    "集團",
    "科技",
    "大学",
    "大學",
    "学院",
    "学校",
    "银行",
    "医院",
    "株式会社",
    "研究所",
    "銀行",
    "病院",
)
JAPANESE_HONORIFICS = ("さん", "さま", "様", "くん", "君", "ちゃん", "先生", "氏", "先輩")
