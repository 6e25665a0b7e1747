"""What NVRTC makes of a kernel text: SASS, which `nvdisasm` lists, or PTX where that is not there."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from mdh.assembly.listing import CodeListing, Instruction
from mdh.folders import scratch
from mdh.target.nvrtc import Cubin, compile_cubin, compile_ptx, nvrtc_version
from mdh.target.text import KernelText

_SECONDS = 120.0
_LINES = "-lineinfo"
_PTX_FUNCTION = re.compile(r"^\s*(?:\.visible )?\.entry (\w+)\(")
_PTX_LINE = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"^(\.?[\w$.]+):\s*$")
_SASS_FUNCTION = re.compile(r"^\.text\.(\w+):$")
_SASS_LINE = re.compile(r"^\s*//## File \"[^\"]*\", line (\d+)")
_SASS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(.*?;)\s*(?:/\*.*)?$")
_SASS_TARGET = re.compile(r"`\((\.[\w$.]+)\)")
_PTX_TARGET = re.compile(r"\bbra(?:\.uni)?\s+([\w$]+);")
Row = tuple[str, int | None]


def disassembler() -> str | None:
    """nvdisasm: on PATH, of a CUDA toolkit, or what comes with Triton."""
    roots = [os.environ.get("CUDA_HOME", "/usr/local/cuda")]
    folders = [Path(root) / "bin" for root in roots if root]
    spec = find_spec("triton")
    for place in () if spec is None else spec.submodule_search_locations or ():
        folders.append(Path(place) / "backends" / "nvidia" / "bin")
    own = (str(f / "nvdisasm") for f in folders if os.access(f / "nvdisasm", os.X_OK))
    return shutil.which("nvdisasm") or next(own, None)


def listings_of_cuda(text: KernelText, arch: str) -> tuple[CodeListing, ...]:
    """The kernels of the text. Raises what NVRTC raises."""
    text = replace(text, options=(*text.options, _LINES))
    tool = disassembler()
    if tool is not None:
        said = _sass(tool, compile_cubin(text, arch))
        if said is not None:
            return parsed_sass(said, f"SASS of {arch}, NVRTC {nvrtc_version()}")
    return parsed_ptx(
        compile_ptx(text, arch), f"PTX for {arch}, NVRTC {nvrtc_version()}; no nvdisasm is there"
    )


def _sass(tool: str, cubin: Cubin) -> str | None:
    """None if this disassembler does not know the architecture."""
    with scratch("asm") as name:
        file = Path(name) / "kernels.cubin"
        file.write_bytes(cubin.image)
        try:
            done = subprocess.run(
                (tool, "-c", "-g", str(file)), capture_output=True, text=True, errors="replace",
                timeout=_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout if done.returncode == 0 else None


def parsed_sass(said: str, kind: str) -> tuple[CodeListing, ...]:
    """The kernels of nvdisasm's output."""
    return _functions(said, kind, _SASS_FUNCTION, _SASS_LINE, _SASS_TARGET)


def parsed_ptx(said: str, kind: str) -> tuple[CodeListing, ...]:
    """The kernels of a PTX text."""
    return _functions(said, kind, _PTX_FUNCTION, _PTX_LINE, _PTX_TARGET)


def _functions(
    said: str, kind: str, heads: re.Pattern[str], lines: re.Pattern[str], targets: re.Pattern[str]
) -> tuple[CodeListing, ...]:
    out: list[CodeListing] = []
    function, line = "", None
    rows: list[Row] = []
    labels: dict[str, int] = {}
    for row in [*said.splitlines(), None]:
        head = None if row is None else heads.match(row)
        if row is None or head is not None:
            if rows:
                out.append(_function(function, kind, rows, labels, targets))
            function, line, rows, labels = "" if head is None else head[1], None, [], {}
        elif not function:
            continue
        elif (place := lines.match(row)) is not None:
            line = int(place[1])
        elif (label := _LABEL.match(row.strip())) is not None:
            labels[label[1]] = len(rows)
        elif (text := _instruction(row, sass=heads is _SASS_FUNCTION)) is not None:
            rows.append((text, line))
    return tuple(out)


def _instruction(row: str, *, sass: bool) -> str | None:
    if sass:
        found = _SASS.match(row)
        return None if found is None else " ".join(found[1].split())
    body = row.strip()
    plain = body and body.endswith(";") and not body.startswith((".", "//", "{", "}"))
    return " ".join(body.split()) if plain else None


def _function(
    name: str, kind: str, rows: list[Row], labels: dict[str, int], targets: re.Pattern[str]
) -> CodeListing:
    made = []
    for text, line in rows:
        found = targets.search(text)
        made.append(Instruction(text, line, None if found is None else labels.get(found[1])))
    return CodeListing(name, kind, tuple(made))
