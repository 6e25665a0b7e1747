"""Machines are data: the limits and speeds that the checker, the default schedules and the cost model use."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from sys import float_info
from typing import Annotated

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.hardware import Engine
from mdh.schema import INT_MOST, Meta, convert_fields
from mdh.source import Source, Span
from mdh.textfile import read_text
from mdh.tomlfile import parse_toml, shown
from mdh.wording import meant

NAME = re.compile(r"\w[\w.+-]{0,99}")
"""The form of a machine's name, which is a file name and a word in schedules."""
_TARGETS = ("cuda", "opencl", "c")
_Name = Annotated[
    str,
    Meta(pattern=rf"\A{NAME.pattern}\Z", description="a name: letters, digits, `.`, `_`, `+` and `-`"),
]
_Text = Annotated[str, Meta(min_length=1, description="a text")]
_Flag = Annotated[bool, Meta(description="true or false")]
_Count = Annotated[int, Meta(ge=1, le=INT_MOST, description="a positive integer")]
_Index = Annotated[int, Meta(ge=0, le=INT_MOST, description="an integer that is not negative")]
_Counts = Annotated[tuple[_Count, ...], Meta(description="a list of positive integers")]
_Triple = Annotated[tuple[_Count, _Count, _Count], Meta(description="three positive integers: x, y, z")]
_Speed = Annotated[float, Meta(gt=0, le=float_info.max, description="a positive number")]
_Peak = Annotated[float, Meta(ge=0, le=float_info.max, description="a number that is not negative")]
_Target = Annotated[str, Meta(pattern=rf"\A({'|'.join(_TARGETS)})\Z")]
_Targets = Annotated[tuple[_Target, ...], Meta(min_length=1, description=f"a list of {', '.join(_TARGETS)}")]
_Engines = Annotated[tuple[Engine, ...], Meta(min_length=1, description=f"a list of {', '.join(Engine)}")]


@dataclass(frozen=True, slots=True)
class Machine:
    """One device model (machines/*.toml, schema `mdh.machine/1`). Bytes, Hz, FLOP/s, bytes/s.

    kind `gpu` or `cpu`; targets: of ("cuda", "opencl", "c"). On a CPU, a BLK is a work-group on a core,
    `shared_per_block` is the cache share that SM buffers may fill, `warp` is 1.
    """

    name: _Name
    title: _Text
    kind: _Text
    targets: _Targets
    arch: _Text
    """CUDA architecture (`sm_90a`), or the OpenCL flavour (`cpu`, `gpu`)."""
    units: _Count
    """Multiprocessors or cores."""
    warp: _Count
    threads_per_block: _Count
    block_limits: _Triple
    grid_limits: _Triple
    threads_per_unit: _Count
    blocks_per_unit: _Count
    shared_per_block: _Count
    shared_per_unit: _Count
    registers_per_unit: _Count
    registers_per_thread: _Count
    partitions: _Count
    """Parts of a multiprocessor's registers; those of a warp lie in one of them."""
    cluster: _Count
    """The most blocks in a cluster; 1 if there are no clusters."""
    vector_bytes: _Count
    """Widest vector access (GPU) or SIMD register (CPU)."""
    copy_engines: _Engines
    """`plain`, `async` (cp.async), `tma`."""
    shuffle: _Flag
    """Lanes of a warp exchange registers in the target language."""
    float_atomics: _Flag
    acquire_release: _Flag
    """Blocks can pass values to one another inside a kernel (ticket, look-back)."""
    half: _Flag
    """16-bit float arithmetic. If False, 16-bit floats are only stored."""
    memory: _Count
    caches: _Counts
    """Bytes of L1, L2, L3 as one core or multiprocessor sees them (L2 of a GPU: the whole)."""
    clock: _Speed
    bandwidth: _Speed
    peak_f32: _Speed
    peak_f64: _Speed
    tensor_f16: _Peak = 0.0
    """Of tensor cores, dense, for f16 and bf16 added in f32; 0: there are none, or it is not known. Files may
    leave it and the following ones out."""
    tensor_tf32: _Peak = 0.0
    tensor_i8: _Peak = 0.0
    tensor_f64: _Peak = 0.0
    tensor_f8: _Peak = 0.0
    """For 8-bit floats added in f32."""
    clustered_units: _Index = 0
    """Multiprocessors that clusters of more than two blocks fill: a cluster lies in one part of the GPU, and
    the parts have different numbers of multiprocessors. 0: all."""

    def clusters(self, blocks: int) -> int:
        """Clusters of so many blocks that run at once, each block alone on a multiprocessor."""
        several = blocks > 2 and self.clustered_units > 0
        return max(1, (self.clustered_units if several else self.units) // blocks)

    @property
    def compute_capability(self) -> int | None:
        """The compute capability of an NVIDIA GPU, times ten; None for others."""
        known = re.match(r"sm_(\d+)", self.arch)
        return None if known is None else int(known[1])


SCHEMA = "mdh.machine/1"
"""Files of a later mdh with more fields say `mdh.machine/1.1`…; only there are unknown fields allowed."""
_FOLDER = Path(__file__).parent / "machines"
_KINDS = ("gpu", "cpu")
_LIMIT = 1 << 15
"""Bytes of a machine file; the largest that comes with mdh has 1,100."""
_AFTER_KEY = re.compile(r"[ \t]*[]=.]")
_TOLD = 20
"""The most wrong fields that are reported at once."""
_LONG = 40
"""Characters of a name that no field is meant by: comparing long names takes time."""


def machine_names() -> tuple[str, ...]:
    """Names of the machines that come with mdh, sorted. Raises OSError if the folder cannot be read."""
    # Path.glob would take an unreadable folder for an empty one
    return tuple(sorted(p.stem for p in map(Path, os.listdir(_FOLDER)) if p.suffix == ".toml"))


def machine_file(name: str) -> Path:
    """The file of a machine that comes with mdh."""
    return _FOLDER / f"{name}.toml"


def load_machine(name_or_path: str | Path) -> Machine:
    """A machine by its name, or by the path of a file of schema `mdh.machine/1`.

    Raises OSError as `machine_names`, and Failed: F150 no such machine, F151 not readable as TOML, F152
    another schema, F153 a field that is missing, unknown or of the wrong type, F154 values that contradict
    one another.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text:
        return read_machine(_source(Path(text)))
    if text not in machine_names():
        names = machine_names()
        hint = meant(text, names, always=f"machines: {', '.join(names)}; or a .toml path")
        raise fail("F150", f"no machine is called `{text}`", help=hint)
    return _shipped(text)


@cache
def _shipped(name: str) -> Machine:
    return read_machine(_source(machine_file(name)))


def _source(path: Path) -> Source:
    try:
        return read_text(str(path), limit=_LIMIT)
    except Failed as failed:
        found = failed.diagnostics[0]
        raise fail("F151", f"the machine file cannot be read: {found.headline}", help=found.help) from failed


def read_machine(source: Source) -> Machine:
    """A machine from TOML text; raises Failed as `load_machine` does, with every wrong field at once."""
    table = parse_toml(source, "F151", f"machine file `{source.name}`")
    said = table.pop("schema", "")
    schema = re.fullmatch(rf"{SCHEMA}(\.[1-9]\d{{0,8}})?", said) if isinstance(said, str) else None
    if schema is None:
        raise fail(
            "F152", f"`{source.name}` is not a machine file of schema `{SCHEMA}`", _key(source, "schema"),
            help=f'write schema = "{SCHEMA}"; `mdh devices --export` writes a complete file',
        )  # fmt: skip
    values, wrong = convert_fields(table, Machine)
    found = [*_wrong_fields(source, table, wrong)]
    if schema[1] is None:
        found.extend(_unknown_fields(source, table))
    if not found:
        machine = Machine(**values)
        found = list(_contradictions(source, machine))
        if not found:
            return machine
    raise Failed(*found[:_TOLD])


def print_machine(machine: Machine) -> str:
    """The machine as a file that `read_machine` reads back to an equal value."""
    lines = [f'schema = "{SCHEMA}"']
    for f in fields(Machine):
        lines.append(f"{f.name} = {_toml(getattr(machine, f.name))}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return f"[{', '.join(_toml(v) for v in value)}]"
        case str():
            # TOML has no halves of characters and no bare DEL
            text = value.encode("utf-8", "replace").decode("utf-8")
            return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return repr(value)


def _key(source: Source, name: str) -> Span:
    """The place where a field (or a table) is set, else the start of the file."""
    # the start of a long name finds it too, and patterns of a million characters take seconds
    start = re.escape(name[:_LONG])
    for found in re.finditer(rf"^[ \t\[]*(?={start})", source.text, re.MULTILINE):
        end = found.end() + len(name)
        if source.text.startswith(name, found.end()) and _AFTER_KEY.match(source.text, end):
            return Span(source, found.end(), end)
    return Span(source, 0, 1)


def _wrong_fields(source: Source, table: dict[str, object], wrong: dict[str, str]) -> Iterator[Diagnostic]:
    """Fields that are missing or of the wrong type. wrong: those of the wrong type, and what they must be."""
    meant = _misspelt(table)
    for f in fields(Machine):
        if f.name in wrong:
            label = Label(_key(source, f.name), f"must be {wrong[f.name]}")
            yield Diagnostic("F153", f"`{f.name}` is {shown(table[f.name])}", (label,))
        near = meant.get(f.name)
        if f.name in table or (f.default is not MISSING and near is None):
            continue
        labels = (Label(_key(source, near), f"not a field: `{f.name}` is meant?"),) if near else ()
        headline = f"machine file `{source.name}` has no field `{f.name}`"
        yield Diagnostic("F153", headline, labels, help=f"every field of `{SCHEMA}` is required")


def _unknown_fields(source: Source, table: dict[str, object]) -> Iterator[Diagnostic]:
    """Names that are no field of the schema, except those that another message already shows."""
    names = [f.name for f in fields(Machine)]
    for name in sorted(table.keys() - set(names) - set(_misspelt(table).values()))[:_TOLD]:
        near = get_close_matches(name, names, 1) if len(name) < _LONG else []
        said = f"`{near[0]}` is one, and set already" if near else "`mdh devices --export -` prints them all"
        yield Diagnostic("F153", f"`{SCHEMA}` has no field `{name}`", (Label(_key(source, name)),), help=said)


def _misspelt(table: dict[str, object]) -> dict[str, str]:
    """Missing field -> the unknown one that is closest to it."""
    names = {f.name for f in fields(Machine)}
    # comparing names takes time, and nobody misspells more of them
    unknown = sorted(n for n in table.keys() - names if len(n) < _LONG)[: 2 * _TOLD]
    near = {name: get_close_matches(name, unknown, 1) for name in sorted(names - table.keys())}
    return {name: found[0] for name, found in near.items() if found}


def _contradictions(source: Source, m: Machine) -> Iterator[Diagnostic]:
    checks = (
        (m.kind in _KINDS, "kind", f"is `{m.kind}`: `gpu` or `cpu`"),
        (Engine.PLAIN in m.copy_engines, "copy_engines", "leaves out `plain`, which every machine has"),
        (m.kind != "cpu" or "cuda" not in m.targets, "targets", "of a CPU are opencl and c"),
        (m.kind == "cpu" or "c" not in m.targets, "targets", "of a GPU are cuda and opencl"),
        (m.shared_per_block <= m.shared_per_unit, "shared_per_block",
         f"{m.shared_per_block} exceeds shared_per_unit {m.shared_per_unit}"),
        (m.threads_per_block <= m.threads_per_unit or m.kind == "cpu", "threads_per_block",
         f"{m.threads_per_block} exceeds threads_per_unit {m.threads_per_unit}"),
        ("cuda" not in m.targets or re.fullmatch(r"sm_\d+a?", m.arch) is not None, "arch",
         f"`{m.arch}` is no CUDA architecture such as sm_90a"),
    )  # fmt: skip
    for holds, name, message in checks:
        if not holds:
            yield Diagnostic("F154", f"`{name}` {message}", (Label(_key(source, name)),))
