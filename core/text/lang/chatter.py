"""What people say without telling anything: greetings, thanks, assent, praise; requests; praise."""

from __future__ import annotations

import re

from core.text.lang import words

# A sentence of nothing but these words (and stop words, names, interjections) tells nothing.
PHATIC = words(
    """hi hey hello hiya howdy yo morning afternoon evening night good great nice cool awesome amazing wonderful
    fantastic
    perfect super excellent brilliant lovely sweet neat rad sick epic beautiful gorgeous stunning incredible inspiring
    impressive interesting fun funny cute adorable delicious yummy yum fab terrific superb marvelous
    thanks thank thx ty cheers appreciate appreciated grateful please welcome sorry excuse pardon congrats
    congratulations bye goodbye later soon see ya talk talking chat chatting catch catching care luck enjoy
    ok okay k yes yeah yep yup sure no nope nah right true exactly absolutely definitely totally certainly indeed
    agree agreed understand understood understandable got gotcha know mean guess think believe bet hope wish wonder
    oh ah aw aww wow whoa woah ooh huh hmm hm mm uh um er ha haha hahaha hehe lol lmao omg gosh god yay woohoo hooray
    sounds sound looks look seems seem feels feel sounded looked glad happy pleased excited proud love loved like
    liked kind kindness words support supportive supporting encouraging encouragement helpful help helps means lot
    lots much really very so too well way pretty quite just truly always never forget
    thing things stuff something anything everything one ones bit idea point part kinda sorta gonna wanna gotta
    hear heard hearing tell told asking ask share sharing shared let knowing say saying said
    question questions noted saved done stored remembered recorded updated finished ready
    keep going go went come coming get getting make makes made making take taking
    buddy pal dude bro man girl guys mate dear friend friends folks everyone people
    time long miss missed check stay tuned worth deserve deserved job work hard
    day week weekend today forward can't wait
    hallo moin servus tschüss danke dank dankeschön bitte gerne gern genau stimmt klar super toll schön prima
    alles gut
    freut freue wirklich ach naja entschuldigung guten tag morgen abend nacht bis bald sehen wünsche viel vielen
    hilfe glück spaß
    hola buenas buenos días tardes noches gracias muchas vale claro genial bien ayuda adiós hasta luego perdón
    perfecto
    bonjour salut bonsoir merci beaucoup aide d'accord oui non bien sûr super génial parfait pardon revoir bientôt
    ciao grazie prego obrigado obrigada olá"""
)
PHATIC_CJK = re.compile(
    r"^(?:你好|您好|大家好|嗨|哈喽|喂|早上好|早安|晚上好|晚安|中午好|下午好|再见|拜拜|谢谢(?:你|您|大家)?|多谢|感谢|不客气|没关系|没事(?:了|儿)?|没(?:什么|别的)(?:事)?了?|"
    r"就(?:这样|这些)(?:了|吧)?|先这样(?:吧)?|对不起|抱歉|"
    r"好(?:的|吧|啊|呀|哦|嘞)?|行|可以|嗯+|哦+|啊+|哈+|是(?:的|啊|吗)?|对(?:的|啊)?|没错|明白(?:了)?|知道(?:了)?|了解|收到|"
    r"太好了|真棒|不错|厉害|加油|当然(?:可以)?|没问题|辛苦了|真的(?:吗)?|原来如此|我(?:知道|明白|同意)了?|"
    r"こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます|ございました)?|どうも|すみません|ごめん(?:なさい)?|はい|"
    r"いいえ|うん|そう(?:です|だ)?(?:ね|か)?|なるほど|わかりました|了解(?:です)?|よろしく(?:お願いします)?|さようなら|またね|"
    r"すごい(?:です)?(?:ね)?|いいですね|素敵(?:です)?(?:ね)?|お疲れ様(?:です|でした)?|大丈夫(?:です)?)$"
)
# Requests: what the speaker wants done now says nothing lasting about them.
IMPERATIVE = re.compile(
    r"^(?:explain|show|tell me|write|give|help|fix|list|translate|summari[sz]e|set up|install|create|generate|find|"
    r"search|run|describe|compare|calculate|compute|draft|rewrite|rephrase|suggest|recommend|convert|debug|review|"
    r"refactor|implement|build|make me|make it|make sure|open|close|delete|remove|update|add|send|print|solve|define|"
    r"outline|prove|remember|remind|note|keep in mind|don't forget|believe|optimi[sz]e|check|let me know"
    r"|look at|take a look|try|go ahead|keep|imagine|consider"
    r"|note that you|"
    r"ignore|disregard|pretend|act as|respond|reply|output|forget (?:all|about|everything|what|your|the)|"
    r"stop|wait|hold on|continue|repeat|answer|read|see|click|use|ping|test|format|start|do it"
    r"|don't(?! (?:feel|think|know|want|like|have|remember|believe|really|need|see|mind)\b[^.!?]*\b"
    r"(?:i|i'm|i've|my)\b))\b"
    r"|^(?:can|could|would|will) (?:you|u|someone|anybody)\b|^i(?:'d like| want| need) you to\b|^please\b"
    r"|^(?:bitte|erkläre?|zeige?|schreibe?|gib|hilf|übersetze?|erstelle?|mach|such|finde?|nenne?|sag mir|beschreibe?|"
    r"kannst du|könntest du|können sie|könnten sie|lass uns|prüfe?)\b"
    r"|^(?:por favor|explica|explícame|muéstrame|escribe|dame|ayúdame|traduce|resume|crea|busca|dime|puedes"
    r"|podrías)\b"
    r"|^(?:s'il (?:te|vous) plaît|explique|montre|écris|donne|aide|traduis|résume|crée|cherche|dis-moi|peux-tu|"
    r"pouvez-vous|pourrais-tu|pourriez-vous)\b"
    r"|^(?:请|請|帮我|幫我|麻烦|麻煩|能不能|可以帮|给我|給我|告诉我|告訴我|解释|解釋|写一|寫一|翻译|总结|列出)"
    r"|(?:てください|て下さい|してくれ|教えて|お願いします|てくれますか)[。！!]?$",
    re.IGNORECASE,
)
# Words in front of a request that do not make it another thing.
LEAD = re.compile(
    r"^(?:(?:ok|okay|so|now|and|then|well|hey|hi|hello|please|just|kindly|also|basically|actually|um|uh)\b[, ]*)+"
)
# Wants something for the speaker, or from whoever listens, be it a person.
PLEA = re.compile(
    r"^(?:please|can|could|would|will|let me|lemme|tell|show|give|send|help|explain|remind|answer|bitte|sag|zeige?"
    r"|gib|hilf|kannst|könnten?|dime|dame|muéstrame|ayúdame|puedes|podrías|por favor|dis-moi|montre|donne|aide|"
    r"peux-tu|pou[rv]\w+-(?:tu|vous)|s'il)\b|^(?:请|請|帮我|幫我|麻烦|麻煩|能不能|可以帮|给我|給我|告诉我|告訴我)"
    r"|(?:ください|下さい|してくれ|教えて|お願いします|てくれますか)[。！!]?$",
    re.IGNORECASE,
)
# Pointing at something: "check out my …", "schau dir mein … an".
SHOWING = re.compile(
    r"^(?:check(?: out)?|take a look at|look at|have a look at|see|schau(?:t)?(?: dir| euch| mal)?|sieh dir|guck mal"
    r"|mira|mirad|échale un vistazo a|regarde[sz]?|看看|看一下|你看|見て)",
    re.IGNORECASE,
)
# Encouragement in the form of a proposal: "let's keep going".
EXHORTING = re.compile(
    r"^(?:let's|lass uns) (?:just |all |always )?(?:keep|continue|spread|stay|cherish|weiter\w*)\b|^vamos a seguir\b"
    r"|^(?:咱们|我们)?继续",
    re.IGNORECASE,
)
PROPOSAL = re.compile(r"^(?:let's|lass uns|vamos a|on va|咱们|我们去|一緒に)", re.IGNORECASE)
# "Do you know that I'm allergic?": a question by form, a fact by content.
TOLD_BY_ASKING = re.compile(
    r"^(?:(?:do|did|don't) you (?:know|remember|recall)|weißt du|wusstest du|sabes|sabías"
    r"|tu sais)\s*,?\s*(?:that|dass|que)?\s+"
    r"(?=(?:i|i'm|i've|we|ich|yo|soy|tengo|je|j'ai)\b|(?:my|our|mein\w*|mi|mon|ma) \w+ (?:is|are|was|has|ist"
    r"|hat|es|tiene|est|a)\b)",
    re.IGNORECASE,
)
# "Remember that …", "note: …": a request, but the user's way to hand over a fact.
HANDED_OVER = re.compile(
    r"^(?:please |bitte |por favor )?(?:remember|remind me|note|keep in mind|don't forget|save|store"
    r"|for the record|fyi|"
    r"merk dir|denk daran|recuerda|souviens-toi|retiens|note que)(?! to\b)"
    r"(?:\s*[,:：]\s*(?:that\b)?|\s+(?:that|this|dass|que)\b[\s:,]*|\s+(?=(?:my|our|i|i'm|we|the|mein\w*|ich|mi|mon|ma)\b))"
    r"|^(?:请)?(?:记住|记得|記住|记一下|覚えて)(?:おいて)?[\s,，:：、]*",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(
    r"\b(?:i|i'(?:m|ve|d|ll)|my|me|mine|myself|we|we'(?:re|ve|d|ll)|our|ours|us|ich|mein\w*|mich|mir|wir|uns\w*|yo|mi|mis|"
    r"me|soy|tengo|nosotros|nuestr\w+|estoy|vivo|trabajo|prefiero|je|j'\w+|mon|ma|mes|moi|nous|notre|nos)\b"
    r"|我|咱|俺|私|僕|俺|うち|自分",
    re.IGNORECASE,
)
# How people answer what they were told: praise, sympathy, thanks, wishes. Such a sentence tells little of its own.
REACTION = re.compile(
    r"^(?:(?:wow|a+w+|oh|whoa|woah|ha(?:ha)+|yay|omg|yeah|yes|yep|well|hey|and|so|man|cool|ok|okay)[,.! ]+)*"
    r"(?:great|nice|cool|awesome|amazing|sweet|wow|congrat\w*|thanks|thank you|glad|so glad|happy (?:to|for"
    r"|you)|sorry|hope|"
    r"hoping|good (?:luck|for you|to|job|on)|keep|can't wait|looking forward|excited|appreciate|no worries"
    r"|no problem|"
    r"sounds|looks|that(?:'s| is| was| sounds| must| looks| makes)|love (?:that|the|your|it)|way to go|you got this|"
    r"i'm (?:so |really |very |truly )?(?:glad|happy|sorry|proud|here for)|i (?:really |totally |so )?(?:hope"
    r"|appreciate|agree)|"
    r"it's (?:so |really |such |always |been )?(?:a |an )?(?:great|awesome|amazing|good|nice|cool|inspiring"
    r"|wonderful|lovely)"
    r"|(?:das|es) (?:ist|klingt|war|freut)|klingt|freut mich|schön,? dass|danke|vielen dank|viel (?:glück"
    r"|erfolg|spaß)"
    r"|glückwunsch|"
    r"herzlichen|ich (?:freue mich|hoffe|drücke)|qué|muchas gracias|me alegro|suena|gracias|espero|felicidades"
    r"|enhorabuena"
    r"|buena suerte|"
    r"lo siento|c'est|ça|merci|je suis (?:content|ravi|désolé)|j'espère|bonne? (?:chance|continuation)"
    r"|félicitations|bravo)\b"
    r"|^(?:听起来|聽起來|真|太|恭喜|祝|希望|谢谢|感谢|抱歉|加油|很高兴|没关系|すごい|素敵|よかった|いいね|いいですね|おめでとう|ありがとう|頑張|それは|助かり|とても助か|参考にな)",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:great|awesome|amazing|incredible|wonderful|fantastic|beautiful|gorgeous|stunning|important|inspiring|inspiration|"
    r"worth|special|priceless|rewarding|cool|nice|good|best|perfect|fun|lovely|cute|tough|hard|essential|key|helpful|powerful|"
    r"toll|super|schön|wichtig|wunderbar|großartig|genial|increíble|maravilloso|hermoso|importante|bonito|génial|"
    r"magnifique|formidable|super)\b",
    re.IGNORECASE,
)
# Praise of what was lived through, or is named: "it was rewarding", "the view was amazing".
WITNESSED = re.compile(
    r"^(?:the \w|(?:it|they) (?:was|were|has been|have been)\b|(?:it's|they've) been\b"
    r"|(?:der|die|das) (?!ist\b|klingt\b)\w|(?:es|sie) (?:war|waren)\b"
    r"|(?:el|la|los|las) \w|(?:fue|era|eran|fueron|ha sido)\b|(?:le|les) \w|c'était\b)",
    re.IGNORECASE,
)
# What holds of things in general and for anybody, which tells nothing of who says it.
MAXIM = re.compile(
    r"^(?:it's|it is|it can be) (?:so |really |always |very |incredibly )?\w+ (?:to|how|that|when)\b"
    r"|^(?!(?:the|this|that|these|those|it|they|he|she|there|my|our|his|her|their)\b)[^,:;]*"
    r"\b(?:is|are|can be|makes?) "
    r"|^(?:es ist|es kann) \w+,? (?:zu|wie|dass|wenn)\b|^(?:es|puede ser) \w+ (?:que|cuando|\w+r)\b"
    r"|^c'est \w+ (?:de|que|quand)\b",
    re.IGNORECASE,
)
# Says what a thing is, though it may speak to the other: "it's a book that takes you to another world".
DESCRIBING = re.compile(
    r"^(?:it's|it is|this is|these are|they're|they are|he's|she's) (?:an?|called|about|from|made|by)\b"
    r"|^(?:es|das|er|sie) ist (?:eine?|aus|von|über)\b|^(?:es|son) (?:una?|de|sobre)\b"
    r"|^(?:c'est|ce sont) (?:une?|des|de|sur)\b",
    re.IGNORECASE,
)
OPENINGS = (
    r"hey(?: there)?|hi(?: there)?|hello|yo|yeah|yes|yep|yup|sure(?: thing)?|well|oh|ah|a+w+|wow|whoa|woah|haha"
    r"|so|ok|okay|"
    r"thanks(?: so much| a lot| again)?|thank you(?: so much)?|totally|definitely|absolutely|exactly|of course"
    r"|for sure|"
    r"anyway|actually|honestly|by the way|btw|you know|i mean|hallo|ach|na ja|naja|also|danke|ja|genau|hola"
    r"|bueno|gracias|"
    r"pues|claro|bonjour|salut|merci|oui|bon|alors|嗯|哦|啊|哈哈|好的|对了|是的|谢谢|你好|はい|うん|ええ|こんにちは|そうですね"
)
ADDRESSING = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|you'd|du|dich|dir|dein\w*|euch|usted|ti|te|tus?|vous|votre|vos|toi)\b|[你您]|あなた",
    re.IGNORECASE,
)
# What is to hold from now on is worth keeping though it is a request.
STANDING = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|whenever|call me|ab jetzt|immer|nie(?:mals)?"
    r"|nenn mich|"
    r"in zukunft|siempre|nunca|de ahora en adelante|llámame|toujours|jamais|désormais|dorénavant|appelle-moi)\b"
    r"|以后|以後|总是|一直|永远|不要再|叫我|今后|今後|いつも|これから|と呼んで",
    re.IGNORECASE,
)
