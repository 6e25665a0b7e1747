"""Many C functions in one library, compiled without optimisation, and called."""

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.soundness.data import Flat, dtype_of
from tests.soundness.tree import Tree, text_of
from tests.support.native import SCALARS

FLAGS = ("-std=gnu11", "-O0", "-w", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared")
BAND = 64
"""Bytes behind every array, which no program may touch."""


@cache
def compilers() -> tuple[str, ...]:
    """GCC (or what is called cc) and Clang, those of them that are there."""
    found = [shutil.which("gcc") or shutil.which("cc"), shutil.which("clang")]
    return tuple(f for f in found if f)


def joined(trees: Sequence[Tree]) -> str:
    """One text of all functions: macros end with their function, constants carry its name."""
    out = []
    for tree in trees:
        text = text_of(tree)
        if tree.spelling == "const":
            for s in tree.sizes:
                text = re.sub(rf"\b{s}\b", f"{s}_{tree.name}", text)
        names = re.findall(r"^#define (\w+)", text, re.MULTILINE)
        out += [text, *(f"#undef {n}\n" for n in names)]
    return "".join(out)


def compile_text(text: str, compiler: str) -> ctypes.CDLL:
    """Raises subprocess.CalledProcessError where the compiler refuses the text."""
    with tempfile.TemporaryDirectory(prefix="mdh-sound-") as name:
        source, library = Path(name) / "all.c", Path(name) / "all.so"
        source.write_text(text, encoding="utf-8")
        command = [compiler, *FLAGS, str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        return ctypes.CDLL(str(library))


class Library:
    """The functions of some programs, compiled by one compiler."""

    def __init__(self, trees: Sequence[Tree], compiler: str) -> None:
        self.loaded = compile_text(joined(trees), compiler)

    def run(self, tree: Tree, flat: Flat) -> Flat:
        """What the function leaves in copies of its arrays; raises where it writes behind one of them."""
        text = text_of(tree)
        order = re.findall(r"(\w+)(?:\[[^,]*)?(?:,|\)$)", _arguments(text))
        mine, args = {}, list[Any]()
        for name in [n for n in order if n != "void"]:
            if name in tree.sizes:
                args.append(ctypes.c_int(tree.sizes[name]))
            elif name in tree.scalars:
                kind = dtype_of(tree.params[name].ctype)
                value = tree.scalars[name]
                number: Any = float(value) if kind.is_float else int(value)
                args.append(SCALARS[kind.name](number))
            else:
                a = flat[name]
                mine[name] = room = bytearray(a.tobytes() + bytes(BAND))
                args.append((ctypes.c_char * len(room)).from_buffer(room))
        function = self.loaded[tree.name]
        function.restype = None
        function(*args)
        out = dict(flat)
        for name, room in mine.items():
            if any(room[-BAND:]):
                raise IndexError(f"`{name}` is written behind its end")
            out[name] = _values(room, flat[name])
        return out


def _values(room: bytearray, like: Any) -> Any:
    copy = like.copy()
    copy.view("u1")[:] = list(room[: like.nbytes])
    return copy


def _arguments(text: str) -> str:
    """The parameters of the one function, between its brackets."""
    return (
        next(line for line in text.splitlines() if line.startswith("void "))
        .partition("(")[2]
        .removesuffix(" {")
    )
