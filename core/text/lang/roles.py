"""How a memory names its speaker when it does not know the name."""

from __future__ import annotations

from core.text.lang import words

ROLES = words(
    """user users user's assistant speaker nutzer nutzers nutzerin benutzer benutzers usuario usuaria utilisateur
    l'utilisateur utilisatrice asistente assistent ユーザー アシスタント"""
)
ROLE_CHARS = frozenset("用户戶助手我有")
