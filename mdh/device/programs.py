"""OpenCL and C programs through the cache, so that a text is compiled only once.

For OpenCL the runtime's own binary is kept. PoCL's is the front end's code, which it completes for a
work-group size at the first launch; NVIDIA's is PTX text. For C it is the shared library.
"""

from mdh.device.cache import Cache, key_of
from mdh.device.linked import linked
from mdh.device.protocols import Executable, Keeps
from mdh.diagnostics import Failed
from mdh.target.text import KernelText


def program_key(text: KernelText, device: Keeps) -> str:
    """Hash of everything that decides the binary."""
    return key_of(text.language, *device.identity, *linked(text).identity, *text.options, text.source)


def kept_program(text: KernelText, device: Keeps, cache: Cache) -> bytes | None:
    """The cached binary of `text`. It is loaded here once; one that the runtime refuses counts as missing and
    is removed. Raises Failed D114 if no binary can be loaded."""
    key = program_key(text, device)
    image = cache.get(key)
    if image is None:
        return None
    try:
        device.load(text, image)
    except Failed as failed:
        if failed.diagnostics[0].code == "D114":
            # no binary can be loaded at all
            raise
        cache.drop(key)
        return None
    return image


def keep_program(built: Executable, device: Keeps, cache: Cache) -> None:
    """Puts the binary of `built` into the cache, if the runtime gives one."""
    image = device.binary(built)
    if image:
        cache.put(program_key(built.text, device), image)


def cached_program(text: KernelText, device: Keeps, cache: Cache) -> tuple[bytes, bool]:
    """The binary, cached or built, and whether it was built. Raises Failed as build."""

    def make() -> bytes:
        built = device.build(text)
        keep_program(built, device, cache)
        return device.binary(built)

    return cache.made(program_key(text, device), lambda: kept_program(text, device, cache), make)
