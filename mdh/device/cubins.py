"""Cubins through the cache, so that a text is compiled only once."""

import json

from mdh.device.cache import Cache, key_of
from mdh.target.nvrtc import Cubin, compile_cubin, nvrtc_version, resources
from mdh.target.text import KernelText


def cubin_key(text: KernelText, arch: str) -> str:
    """Hash of everything that decides the machine code. Raises Failed D120."""
    return key_of("cubin", nvrtc_version(), arch, *text.options, text.source)


def cached_cubin(text: KernelText, arch: str, cache: Cache | None) -> Cubin:
    """A cubin with its log, like `compile_cubin`, from the cache if it is there."""
    if cache is None:
        return compile_cubin(text, arch)
    key = cubin_key(text, arch)

    def make() -> Cubin:
        made = compile_cubin(text, arch)
        cache.put(key, json.dumps(made.log).encode() + b"\n" + made.image)
        return made

    return cache.made(key, lambda: _kept(key, arch, cache), make)[0]


def _kept(key: str, arch: str, cache: Cache) -> Cubin | None:
    kept = cache.get(key)
    if kept is None:
        return None
    log, _, image = kept.partition(b"\n")
    words = str(json.loads(log))
    return Cubin(image, arch, words, resources(words))
