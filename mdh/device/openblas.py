"""OpenBLAS for the device `c`: that of the system, of a package for Python, or the one inside of numpy.

Builds of OpenBLAS differ in the names of their functions and in the size of their integers. A text says the
names of `cblas.h` and `BLAS_INT`; the options here give them their meaning for the library that was found.
"""

import ctypes
import shlex
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.target.blas import FUNCTIONS, INTEGER

_FORMS = (("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_"))
"""What stands before and behind the names of `cblas.h`, in the builds that there are. With `64_`, integers
have 64 bits."""
_NAMES = ("libopenblas.so.0", "libopenblas.so")
"""Of the system's library, for the loader."""
_PACKAGES = (
    ("scipy-openblas32", "scipy_openblas32/lib/libscipy_openblas*.so*"),
    ("numpy", "numpy.libs/libscipy_openblas*.so*"),
)
"""Packages for Python that have a library, and where."""
SYSTEM = "the system"
INSTALL = "on Debian or Ubuntu: apt-get install libopenblas-dev; or: pip install scipy-openblas32"


@dataclass(frozen=True, slots=True)
class OpenBlas:
    """A library. path: its file, or for the linker's own search its name. before, behind: of its functions'
    names. version: as the library reports it."""

    path: str
    origin: str
    before: str
    behind: str
    version: str

    @property
    def options(self) -> tuple[str, ...]:
        """For compiling a text that calls it."""
        names = tuple(f"-D{f}={self.before}{f}{self.behind}" for f in FUNCTIONS if self.before or self.behind)
        return (*names, f"-D{INTEGER}=int64_t") if self.behind else names

    @property
    def link(self) -> tuple[str, ...]:
        """For linking it. The loader finds it again where it lies."""
        return self.path, f"-Wl,-rpath,{Path(self.path).parent}"

    @property
    def default(self) -> bool:
        """Whether compilers find it without being told: it is the system's, and has the usual names."""
        return self.origin == SYSTEM and not self.options

    @property
    def make(self) -> str:
        """How `make` builds a folder of `mdh compile -o` with it."""
        link, options = (shlex.quote(" ".join(words)) for words in (self.link, self.options))
        return f"make LIBRARIES={link} CPPFLAGS={options}"


def find_openblas() -> OpenBlas:
    """The first that is there: of the system, of the package scipy-openblas32, of numpy. Raises Failed
    D136."""
    found = _found()
    if isinstance(found, str):
        raise fail("D136", f"OpenBLAS is not there: {found}", help=INSTALL)
    return found


@cache
def _found() -> OpenBlas | str:
    seen = []
    for origin, path in (*_of_system(), *_of_packages()):
        library = _opened(path)
        if isinstance(library, str):
            seen.append(f"{path} {library}")
            continue
        form = next((f for f in _FORMS if _has(library, f)), None)
        if form is None:
            seen.append(f"{path} has no `{FUNCTIONS[0]}`")
            continue
        return OpenBlas(path, origin, *form, _version(library, form))
    return "; ".join(seen)[:300] or "no library of the system has its name, and no package for Python"


def _of_system() -> list[tuple[str, str]]:
    """The path of the library that the loader finds."""
    opened = (_opened(name) for name in _NAMES)
    library = next((one for one in opened if not isinstance(one, str)), None)
    path = "" if library is None else _path_of(library)
    return [(SYSTEM, path)] if path else []


class _Info(ctypes.Structure):
    """What `dladdr` tells."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _path_of(library: ctypes.CDLL) -> str:
    """The file that a function of a library lies in; empty if the system does not say."""
    form = next((f for f in _FORMS if _has(library, f)), None)
    try:
        tell = ctypes.CDLL(None).dladdr
    except AttributeError:
        return ""
    if form is None:
        return ""
    info = _Info()
    tell.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Info))
    address = ctypes.cast(library[f"{form[0]}{FUNCTIONS[0]}{form[1]}"], ctypes.c_void_p)
    known = tell(address, ctypes.byref(info)) and info.file
    return str(Path(info.file.decode()).resolve()) if known else ""


def _of_packages() -> list[tuple[str, str]]:
    out = []
    for package, pattern in _PACKAGES:
        try:
            folder = Path(str(distribution(package).locate_file("")))
        except PackageNotFoundError:
            continue
        out += [(package, str(path)) for path in sorted(folder.glob(pattern))]
    return out


def _opened(path: str) -> ctypes.CDLL | str:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        return f"cannot be loaded: {error}"


def _has(library: ctypes.CDLL, form: tuple[str, str]) -> bool:
    return all(hasattr(library, f"{form[0]}{name}{form[1]}") for name in FUNCTIONS)


def _version(library: ctypes.CDLL, form: tuple[str, str]) -> str:
    """`OpenBLAS 0.3.31`; without a number if the library does not say it."""
    try:
        tell = library[f"{form[0]}openblas_get_config{form[1]}"]
    except AttributeError:
        return "OpenBLAS"
    tell.restype = ctypes.c_char_p
    return " ".join((tell() or b"OpenBLAS").decode(errors="replace").split()[:2])


def openblas_or_why() -> OpenBlas | str:
    """The library, or why there is none."""
    try:
        return find_openblas()
    except Failed as failed:
        return failed.diagnostics[0].headline
