"""Extraction by a chat model: prompt, call, tolerant reading, grounding."""

from core.services.extract_model.extractor import ModelExtractor
from core.services.extract_model.windows import windows

__all__ = ["ModelExtractor", "windows"]
