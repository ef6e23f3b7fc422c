"""What machines say and write: recalled memories, tool traffic, service phrases, attachments."""

from __future__ import annotations

import re

ECHO_LINE = re.compile(
    r"^\s*[-*>•\[(\"']*\s*(?:recalled|recall|retrieved|relevant|known|stored|saved|existing|previous"
    r"|from (?:my )?)?\s*"
    r"(?:recalled|recall|retrieved|memory|memories|facts about (?:you|the user|user)|context|from memory"
    r"|memory update|"
    r"erinnerung(?:en)?|recuerdos?|souvenirs?|回忆|回憶|记忆|記憶|召回|已知信息|思い出|記憶から)\s*(?:\([^)]*\))?\s*(?:[\])]\s*[:：]?|[:：])",
    re.IGNORECASE,
)
TOOL_LINE = re.compile(
    r"^\s*(?:\{.*\}|\[.*\]|</?[a-z_]+[^>]*>.*|(?:tool|function|action|observation|thought|calling|invoking|executing|status|"
    r"debug|info|warning|traceback|stdout|stderr|exit code|http/\d)\b[^.!?]*[:(].*|(?:ping|pong|ok|done|test"
    r"|testing)[.!]?)\s*$",
    re.IGNORECASE,
)
MACHINE_BLOCK = re.compile(
    r"```.*?(?:```|\Z)|<(tool_call|tool_result|tool_response|think|thinking|scratchpad|function_calls?|memory|memories|"
    r"context)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
ATTACHMENT = re.compile(
    r"\[\s*(image|photo|picture|video|audio|file|attachment|bild|foto|imagen|图片|圖片|画像)\s*[:：]\s*([^\[\]\n]{1,400})\]",
    re.IGNORECASE,
)
# A machine talking of its service, not of the world.
SERVICE = re.compile(
    r"\bas an? (?:ai|assistant|language model)\b|\bi(?:'ll|'m|'d|'ve| can| could| will| would"
    r"| am)? ?(?:be )?(?:happy |glad |able |"
    r"here |ready |going )?(?:to )?(?:help|assist|remember|recall|keep that in mind|make a note|let you know)\b"
    r"|\bi (?:don't|do not|can't|cannot) (?:have access|access|browse|see|recall|find)\b|^(?:let me|feel free"
    r"|here(?:'s| is| are)\b)"
    r"|\b(?:hope (?:this|that) helps|anything else|let me know|noted|got it|i(?:'ve| have)? (?:noted|saved"
    r"|updated|added|stored|"
    r"remembered)|(?:from|in) (?:my )?memory)\b|^(?:retrieved|recalled|search(?:ed|ing)|loading|calling"
    r"|fetch(?:ed|ing)|thinking)\b"
    r"|\b(?:als ki|ich helfe|gern geschehen|ich merke mir|como ia|te ayudo|en tant qu'ia|je retiens|je suis là)\b"
    r"|作为(?:一个)?(?:人工智能|ai)|我记得|我记住了|已记录|已保存|我可以帮|希望.*帮助|覚えました|記録しました|お手伝い",
    re.IGNORECASE,
)
RECOMMENDING = re.compile(
    r"\b(?:recommend\w*|suggest\w*|i'd (?:go|use|pick|choose|try|start)|i would (?:go|use|pick|choose|try)"
    r"|empfehle\w*|"
    r"vorschlag\w*|schlage|recomiendo|sugiero|recommande|conseille|propose)\b|推荐|建议|おすすめ|お勧め",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"^(?:you|u) (?:should|could|can|might|may|must|need to|have to)\b|^(?:du|sie) (?:solltest|sollten|könntest"
    r"|könnten|kannst)\b|"
    r"^(?:deberías|podrías|puedes)\b|^(?:tu|vous) (?:devriez|devrais|pourriez|pourrais|pouvez|peux)\b"
    r"|^[你您](?:可以|应该|最好)",
    re.IGNORECASE,
)
SPEAKER_LABELS = {
    "en": ("User", "Assistant"),
    "de": ("Nutzer", "Assistent"),
    "es": ("Usuario", "Asistente"),
    "fr": ("Utilisateur", "Assistant"),
    "zh": ("用户", "助手"),
    "ja": ("ユーザー", "アシスタント"),
}
