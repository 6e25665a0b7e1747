"""What a C text that calls libraries is compiled and linked with."""

from dataclasses import dataclass
from pathlib import Path

from mdh.device.openblas import find_openblas
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class Linked:
    """options: for the compiler, in front of the text. link: behind it. identity: what the machine code
    depends on besides the text."""

    options: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()


def linked(text: KernelText) -> Linked:
    """Raises Failed D136 if a library is not there."""
    out = Linked()
    for name in text.libraries:
        assert name == "openblas", "the checker refuses other libraries"
        found = find_openblas()
        state = Path(found.path).stat()
        stamp = (found.version, found.path, str(state.st_size), str(state.st_mtime_ns))
        out = Linked(found.options, found.link, (*found.options, *stamp))
    return out
