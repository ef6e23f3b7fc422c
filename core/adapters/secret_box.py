"""Encryption at rest for webhook secrets: Fernet (AES-128-CBC, HMAC) under a key derived from MEMLANE_SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken

from core.ports.secrets import SecretUnreadable


class FernetBox:
    """Implements SecretBox."""

    def __init__(self, key: str) -> None:
        digest = hashlib.sha256(b"memlane webhook secrets\0" + key.encode()).digest()
        self._fernet = Fernet(base64.urlsafe_b64encode(digest))

    def seal(self, secret: str) -> bytes:
        return self._fernet.encrypt(secret.encode())

    def open(self, sealed: bytes) -> str:
        try:
            return self._fernet.decrypt(bytes(sealed)).decode()
        except InvalidToken as error:
            raise SecretUnreadable("a webhook secret was encrypted under another MEMLANE_SECRET_KEY") from error
