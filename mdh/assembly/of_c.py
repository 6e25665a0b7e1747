"""What the C compiler makes of a kernel text: `objdump` lists it with the lines of the text."""

import platform
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from mdh.assembly.listing import CodeListing, Instruction
from mdh.device.c_compiler import compiled, find_compiler
from mdh.diagnostics import fail
from mdh.folders import scratch
from mdh.target.text import KernelText
from mdh.textfile import reason

_SECONDS = 60.0
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_LINE = re.compile(r"^(/.*):(\d+)(?: \(discriminator \d+\))?$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*?)\s*$")
_TARGET = re.compile(r"\b([0-9a-f]+) <[^>]*>")
_JUMP = re.compile(r"^(?:j|b(?!l)|cb|tb|loop)")
_X86 = ("x86_64", "AMD64", "i686")


def listings_of_c(text: KernelText) -> tuple[CodeListing, ...]:
    """The functions that come from the text. Raises Failed F220 without a disassembler, and what the compiler
    raises."""
    tool = shutil.which("objdump")
    if tool is None:
        raise fail(
            "F220", "assembly of C is listed by objdump, which is not there",
            help="on Debian or Ubuntu: apt-get install binutils",
        )  # fmt: skip
    compiler = find_compiler()
    # line numbers change no instruction
    image = compiled(replace(text, options=(*text.options, "-g")), compiler)
    with scratch("asm") as name:
        file = Path(name) / "kernels.so"
        file.write_bytes(image)
        intel = ("-M", "intel") if platform.machine() in _X86 else ()
        words = (tool, "-d", "-l", "--no-show-raw-insn", *intel, str(file))
        said = _said(words)
    kind = f"{platform.machine()}, {compiler.version}"
    return tuple(x for x in parsed(said, f"{text.name}.c", kind) if any(i.line for i in x.instructions))


def _said(words: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = reason(error) if isinstance(error, OSError) else f"it does not end in {_SECONDS:.0f} s"
        raise fail("F220", f"`{words[0]}` fails: {why}") from None
    if done.returncode:
        raise fail("F220", f"`{words[0]}` fails: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
    return done.stdout


def parsed(said: str, file: str, kind: str) -> list[CodeListing]:
    """The functions of objdump's output. file: the name of the text, whose lines count."""
    out: list[CodeListing] = []
    rows: list[tuple[int, str, int | None]] = []
    line: int | None = None
    function = ""
    for row in [*said.splitlines(), "0 <end>:"]:
        if (head := _FUNCTION.match(row)) is not None:
            if rows:
                out.append(_function(function, kind, rows))
            function, rows, line = head[1], [], None
        elif (place := _LINE.match(row)) is not None:
            line = int(place[2]) if Path(place[1]).name == file else None
        elif (found := _INSTRUCTION.match(row)) is not None:
            rows.append((int(found[1], 16), found[2], line))
    return out


def _function(name: str, kind: str, rows: list[tuple[int, str, int | None]]) -> CodeListing:
    places = {address: n for n, (address, _, _) in enumerate(rows)}
    made = []
    for _, text, line in rows:
        target = _TARGET.search(text) if _JUMP.match(text) else None
        words = " ".join(text.split())
        made.append(Instruction(words, line, None if target is None else places.get(int(target[1], 16))))
    return CodeListing(name, kind, tuple(made))
