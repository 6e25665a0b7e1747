"""Cubins that several tests of a process look at: machines of one architecture have the same texts."""

from mdh.target.nvrtc import Cubin, compile_cubin
from mdh.target.text import KernelText

_MOST = 200
_KEPT: dict[tuple[str, tuple[str, ...], str], Cubin] = {}
"""By the text, the options and the architecture, which are all that NVRTC gets."""


def cubin_of(text: KernelText, arch: str) -> Cubin:
    """What NVRTC makes of a text, once in a process. Raises Failed as `compile_cubin` does."""
    key = (text.source, text.options, arch)
    if key not in _KEPT:
        if len(_KEPT) >= _MOST:
            _KEPT.clear()
        _KEPT[key] = compile_cubin(text, arch)
    return _KEPT[key]
