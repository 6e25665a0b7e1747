"""Texts that a compiler refused, kept where the user can open them."""

import tempfile
from pathlib import Path

from mdh.target.text import KernelText

_SUFFIXES = {"cuda": "cu", "opencl": "cl", "c": "c"}


def keep_source(text: KernelText) -> Path:
    """Write the text where the user can open it; the name follows from the text."""
    name = f"mdh-{text.name}-{text.digest[:12]}.{_SUFFIXES[text.language]}"
    path = Path(tempfile.gettempdir()) / name
    path.write_text(text.source)
    return path
