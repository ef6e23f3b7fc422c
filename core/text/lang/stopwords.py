"""Words that carry grammar rather than matter, by language. Folded forms, apostrophes kept."""

from __future__ import annotations

from core.text.lang import words

ENGLISH = words(
    """a about above after again against all am an and any are aren't as at be because been before being below
    between both but by can could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself
    his how how's i i'd i'll i'm i've if in into is isn't it it's its itself let's me more most my myself of off
    on once only or other our ours ourselves out over own same she she'd she'll she's should so some such than
    that that's the their theirs them themselves then there there's these they they'd they'll they're they've
    this those through to too under until up us very was wasn't we we'd we'll we're we've were weren't what
    what's when when's where where's which while who who's whom why why's will with would you you'd you'll
    you're you've your yours yourself yourselves"""
)
GERMAN = words(
    """aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim
    bin bis bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner dem den denn der des dessen
    dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
    etwas euch euer eure für gegen habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem
    ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen
    keiner können könnte machen man manche mein meine meinem meinen meiner mich mir mit muss musste nach nicht
    nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche
    soll sollte sondern sonst über um und uns unser unsere unserem unseren unter viel vom von vor wann war waren
    warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo
    wollen wollte während würde würden zu zum zur zwar zwischen"""
)
SPANISH = words(
    """a al algo algunas algunos ante antes aquel aquella aquí así aunque cada como con contra cual cuál cuando
    cuándo cuánto de del desde donde dónde durante e el él ella ellas ellos en entre era eran eres es esa esas ese
    eso esos esta está están estaba estas este esto estos estoy fue fueron ha había han has hasta hay he la las
    le les lo los más me mi mí mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros
    para pero poco por porque qué que quien quién se ser si sí sido sin sobre son soy su sus también tanto te
    tengo tiene tienen todo todos tu tú tus un una unas uno unos usted vosotros y ya yo"""
)
FRENCH = words(
    """à ai aie ainsi alors après as au aucun aussi autre aux avait avant avec avez avoir avons c'est ça car ce cela
    ces cet cette chez comme comment d'un d'une dans de des depuis donc dont du elle elles en encore entre es est
    et étaient était être eu eux fait il ils j'ai je la le les leur leurs lui m'a ma mais me même mes moi mon n'a
    n'est ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu'il qu'on qu'un
    quand que quel quelle quelles quels qui quoi s'est sa sans se sera ses si son sont sous suis sur ta te tes
    toi ton tous tout toute très tu un une vers vos votre vous y"""
)
ITALIAN = words(
    """a abbia ad ai al alla alle allo anche ancora avere aveva c'è che chi ci come con cosa cui da dagli dai dal
    dalla dalle degli dei del dell'a della delle dello di dove e è ed era erano essere fa fra gli ha hai hanno ho
    i il in io l'ho la le lei li lo loro lui ma mi mia mie miei mio molto ne negli nei nel nella noi non nostra
    nostro o ogni per perché più poi qual quale quando quanto quella quelle quelli quello questa queste questi
    questo sarà se sei si sia siamo sono sta su sua sue sugli sul sulla suo suoi tra tu tua tuo tutti tutto un
    una uno vi voi"""
)
PORTUGUESE = words(
    """a à ao aos aquela aquele aqui as às até cada com como da das de dela dele depois do dos e é ela elas ele
    eles em entre era eram essa esse esta está estão estava este eu foi foram há isso isto já lá lhe mais mas me
    mesmo meu meus minha minhas muito na nas não nem no nos nós nossa nosso num numa o os ou para pela pelas pelo
    pelos por porque qual quando que quem são se sem ser seu seus só sua suas também te tem tenho teve tinha tu
    tua um uma uns você vocês"""
)
DUTCH = words(
    """aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
    geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jou jouw kan kon
    kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons onze ook op over te tegen
    toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel werd wie wij wil worden
    wordt zal ze zei zelf zich zij zijn zo zonder zou"""
)
RUSSIAN = words(
    """а без был была были было быть в вам вас весь во вот все всё вы где да даже для до его ее её если есть еще ещё
    же за и из или им их к как какой когда кто ли мне много мой моя мы на над нас не него нет ни но ну о об он она
    они от очень по под при с со так также там те тем то тогда того тоже только ты у уже что чтобы эта эти это
    этот я меня тебя тебе мной нас нам вами зовут привет"""
)
CHINESE = words(
    """的 了 是 在 和 与 及 或 也 都 就 还 又 很 我 你 您 他 她 它
    们 我们 你们 他们 她们 这 那 这个 那个 这些 那些 什么 吗 呢 吧 啊 呀 把 被 给
    对 从 向 到 着 过 而 但 但是 因为 所以 如果 之 其 于 以 等 一个 个 请
    请问 谁 哪 哪里 怎么 怎样 为什么 地 得 让 会 要 上 里 中"""
)
JAPANESE = words("の に は を が で と も へ や か ね よ な た だ て し れ さ い る です ます から まで")

LATIN = {
    "en": ENGLISH,
    "de": GERMAN,
    "es": SPANISH,
    "fr": FRENCH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "nl": DUTCH,
}
