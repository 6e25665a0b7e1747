"""Kernels in C as programs of their own, under AddressSanitizer and UndefinedBehaviorSanitizer.

Each program is a kernel's text and a `main` that reads its arrays from a file into memory of exactly their
size, calls the kernels and writes the arrays back. It runs in a process of its own, which a report ends.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mdh.device.arguments import scalar_value
from mdh.device.c_compiler import Compiler
from mdh.device.protocols import POISON
from mdh.target.text import BufferArg, KernelText
from tests.soundness.data import shaped
from tests.soundness.trial import Ready, outcome
from tests.soundness.verdict import Verdict

FLAGS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
"""Behind a text's own options, of which the last -O counts. Overflow of signed numbers is no report: with
-fwrapv, which all texts in C are compiled with, they wrap."""
LIMIT = 120.0
"""Seconds of one compile, or one run."""
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
LINE = 64
"""Bytes at whose multiples workspaces begin, as mdh.device.c has it."""
_C = {
    "float32": "float", "float64": "double", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned",
    "uint64": "unsigned long long",
}  # fmt: skip
_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *mdh_room(size_t bytes, size_t line)
{
    void *room = 0;
    if (line ? posix_memalign(&room, line, bytes) : !(room = malloc(bytes)))
        exit(3);
    return room;
}

int main(int count, char **words)
{
    FILE *in = fopen(words[1], "rb"), *out;
"""


def examined_by_tools(ready: Ready, text: KernelText, compiler: Compiler) -> Verdict:
    """`report`: what a sanitizer says first; else as any device's results are judged."""
    arrays = shaped(ready.program, ready.flat)
    with TemporaryDirectory(prefix="mdh-sanitized-") as name:
        folder = Path(name)
        source, program = folder / "kernel.c", folder / "kernel"
        source.write_text(text.source + main_of(text, arrays, ready.scalars), encoding="utf-8")
        words = [*compiler.command, *text.options, *compiler.native, *FLAGS, str(source), "-o", str(program)]
        built = _run([*words, "-lm"])
        if built.returncode:
            return Verdict("report", f"it does not build: {built.stderr.strip()[-300:]}")
        given, left = folder / "in", folder / "out"
        given.write_bytes(b"".join(a.tobytes() for a in arrays.values()))
        ran = _run([str(program), str(given), str(left)])
        if ran.returncode:
            return Verdict("report", said_of(ran.stderr) or f"exit status {ran.returncode}")
        return outcome(ready, arrays, _read(left.read_bytes(), arrays), "c, sanitized")


def main_of(text: KernelText, arrays: Mapping[str, Any], scalars: Mapping[str, float]) -> str:
    """The function that calls the kernels in their order, each turn of a loop by itself."""
    lines = [_MAIN]
    for name, a in arrays.items():
        size = room_of(a)
        lines.append(f"    void *in_{name} = mdh_room({size}, 0);")
        lines.append(f"    if (fread(in_{name}, 1, {size}, in) != {size}) return 4;")
    for w in text.workspaces:
        lines.append(f"    void *in_{w.name} = mdh_room({w.bytes}, {LINE});")
        lines.append(f"    memset(in_{w.name}, {0 if w.zero else POISON}, {w.bytes});")
    for number, x in enumerate(text.launches):
        entry, numbers, words = text.kernels[x.kernel], {**scalars, **x.at}, []
        if x.clear:
            zeroed = (w for w in text.workspaces if w.zero)
            lines.extend(f"    memset(in_{w.name}, 0, {w.bytes});" for w in zeroed)
        for arg in entry.args:
            if isinstance(arg, BufferArg):
                words.append(f"in_{arg.name}")
                continue
            value = scalar_value(numbers[arg.name], arg.dtype)
            kind, name = _C[value.dtype.name], f"scalar_{arg.name}_{number}"
            lines.append(f"    {kind} {name};")
            lines.append(f'    memcpy(&{name}, "{_bytes(value)}", sizeof {name});')
            words.append(name)
        lines.append(f"    {entry.name}({', '.join(words)});")
    lines.append('    out = fopen(words[2], "wb");')
    for name, a in arrays.items():
        lines.append(f"    if (fwrite(in_{name}, 1, {room_of(a)}, out) != {room_of(a)}) return 5;")
    lines.append("    return fclose(out) || fclose(in) || count != 3;\n}\n")
    return "\n".join(lines)


def room_of(array: Any) -> int:
    """Bytes that the kernels are given."""
    return int(array.nbytes)


def said_of(log: str) -> str:
    """The line of a report that says what it is about."""
    lines = [
        x.strip() for x in log.splitlines() if "runtime error: " in x or "ERROR: " in x or "SUMMARY" in x
    ]
    return lines[0][-300:] if lines else log.strip()[-300:]


def _bytes(value: Any) -> str:
    return "".join(f"\\{b:03o}" for b in np.asarray(value).tobytes())


def _run(words: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT,
        stdin=subprocess.DEVNULL, env={**os.environ, **ENVIRONMENT},
    )  # fmt: skip


def _read(raw: bytes, like: Mapping[str, Any]) -> dict[str, Any]:
    out, at = {}, 0
    for name, a in like.items():
        out[name] = np.frombuffer(raw, a.dtype, a.size, at).reshape(a.shape)
        at += a.nbytes
    return out
