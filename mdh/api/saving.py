"""Kernels as folders: `kernel.save(folder)`.

The folder is that of `mdh compile`, which needs no mdh, and one more file: the texts and values that the
kernel is made of. `mdh.load` checks and builds it again, so a folder cannot hold a wrong kernel.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from mdh.api.options import of_type
from mdh.api.texts import GivenTexts
from mdh.api.variant import Variant
from mdh.diagnostics import fail
from mdh.folders import replace_whole
from mdh.target.folder import folder as files_of
from mdh.textfile import reason

FILE, SCHEMA = "kernel.json", "mdh.kernel/1"


@dataclass(frozen=True, slots=True)
class Saved:
    """What is in the file. path, text: of the program. schedule: without holes. defines: open sizes are
    ranges. device: where the kernel was built."""

    schema: str
    path: str
    text: str
    schedule: str
    defines: dict[str, int | str]
    function: str | None
    strict_fp: bool
    deterministic: bool
    allow: tuple[str, ...]
    device: str


def save(given: GivenTexts, names: Sequence[str], variant: Variant, place: str | PathLike[str]) -> None:
    """Writes what serves calls of one size into a folder. names: sizes of calls. Raises Failed F111."""
    of_type("folder", place, (str, PathLike), "a path")
    plan, device = variant.plan, variant.device
    sizes = {n: v for n, v in variant.program.sizes.items() if n in names}
    opened = {s.name: str(s) for s in plan.program.opens}
    defines = {**{n: v for n, v in given.bound.items() if isinstance(v, int | str)}, **sizes}
    files = dict(
        files_of(variant.built.text, plan.program, plan.text, defines=defines, arch=device.machine.arch)
    )
    saved = {
        "schema": SCHEMA, "path": given.source.name, "text": given.source.text, "schedule": plan.text,
        "defines": {**defines, **opened}, "function": given.function, "strict_fp": given.strict_fp,
        "deterministic": given.deterministic, "allow": list(given.allow), "device": device.spec,
    }  # fmt: skip
    files[FILE] = json.dumps(saved, indent=2) + "\n"
    _write(Path(fspath(place)), files)


def _write(place: Path, files: Mapping[str, str]) -> None:
    other = next((n for n in files if (place / n).exists() and n not in _known(place)), None)
    if other is not None:
        what = f"`{place / other}` is there, and mdh has not written it"
        raise fail("F111", what, help="give a folder of its own")
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            replace_whole(place / name, text.encode())
    except OSError as error:
        raise fail("F111", f"`{place}` cannot be written: {reason(error)}") from error


def _known(place: Path) -> frozenset[str]:
    """The files of a folder that mdh has written, as its manifest says."""
    try:
        listed = json.loads((place / "manifest.json").read_text(encoding="utf-8"))["files"]
        return frozenset((*listed, FILE))
    except (OSError, ValueError, LookupError, TypeError):
        return frozenset()
