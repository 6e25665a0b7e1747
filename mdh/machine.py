"""Machines are data: the limits and speeds that the checker, the default schedules and the model use."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.hardware import Engine
from mdh.source import Source, Span
from mdh.textfile import read_text
from mdh.tomlfile import is_count, is_number, parse_toml, shown


@dataclass(frozen=True, slots=True)
class Machine:
    """One device model (machines/*.toml, schema `mdh.machine/1`). Bytes, Hz, FLOP/s, bytes/s.

    kind `gpu` or `cpu`; targets: of ("cuda", "opencl", "c"). On a CPU, a BLK is a work-group on a core,
    `shared_per_block` is the cache share that SM buffers may fill, `warp` is 1.
    """

    name: str
    title: str
    kind: str
    targets: tuple[str, ...]
    arch: str
    """CUDA architecture (`sm_90a`), or the OpenCL flavour (`cpu`, `gpu`)."""
    units: int
    """Multiprocessors or cores."""
    warp: int
    threads_per_block: int
    block_limits: tuple[int, int, int]
    grid_limits: tuple[int, int, int]
    threads_per_unit: int
    blocks_per_unit: int
    shared_per_block: int
    shared_per_unit: int
    registers_per_unit: int
    registers_per_thread: int
    partitions: int
    """Of a multiprocessor's registers: those of a warp lie in one of them."""
    cluster: int
    """Most blocks in a cluster; 1 where there are none."""
    vector_bytes: int
    """Widest vector access (GPU) or SIMD register (CPU)."""
    copy_engines: tuple[Engine, ...]
    """`plain`, `async` (cp.async), `tma`."""
    shuffle: bool
    """Lanes of a warp exchange registers in the target language."""
    float_atomics: bool
    acquire_release: bool
    """Blocks can hand values to one another inside a kernel (ticket, look-back)."""
    half: bool
    """16-bit float arithmetic; where False 16-bit floats are storage only."""
    memory: int
    caches: tuple[int, ...]
    """Bytes of L1, L2, L3 as one core or multiprocessor sees them (L2 of a GPU: the whole)."""
    clock: float
    bandwidth: float
    peak_f32: float
    peak_f64: float

    @property
    def compute_capability(self) -> int | None:
        """Of an NVIDIA GPU, times ten; None for others."""
        known = re.match(r"sm_(\d+)", self.arch)
        return None if known is None else int(known[1])


SCHEMA = "mdh.machine/1"
"""Files of a later mdh that has more fields say `mdh.machine/1.1`, `1.2`…: only there are fields unknown."""
_FOLDER = Path(__file__).parent / "machines"
_KINDS = ("gpu", "cpu")
_TARGETS = ("cuda", "opencl", "c")
_ENGINES = tuple(Engine)
_TRIPLES = ("block_limits", "grid_limits")
NAME = re.compile(r"\w[\w.+-]{0,99}")
"""Of a machine: files are called by it, and schedules name it."""
_LIMIT = 1 << 15
"""Bytes of a machine file; the largest that comes with mdh has 1,100."""
_TOLD = 20
"""Wrong fields that are told at once."""


def machine_names() -> tuple[str, ...]:
    """Names of the machines that come with mdh, sorted. Raises OSError where the folder cannot be read."""
    # Path.glob would take a folder that cannot be read for an empty one
    return tuple(sorted(p.stem for p in map(Path, os.listdir(_FOLDER)) if p.suffix == ".toml"))


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
        near = get_close_matches(text, machine_names(), 1, 0.5)
        said = f"did you mean `{near[0]}`? " if near else ""
        known = ", ".join(machine_names())
        raise fail("F150", f"no machine is called `{text}`", help=f"{said}machines: {known}; or a .toml path")
    return read_machine(_source(_FOLDER / f"{text}.toml"))


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
    found = [*_wrong_fields(source, table)]
    if schema[1] is None:
        found.extend(_unknown_fields(source, table))
    if not found:
        values: dict[str, Any] = {f.name: _convert(f.name, table[f.name]) for f in fields(Machine)}
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
    """Where a field (or a table) is set, else the start of the file."""
    found = re.search(rf"^[ \t\[]*({re.escape(name)})[ \t]*[]=.]", source.text, re.MULTILINE)
    return Span(source, found.start(1), found.end(1)) if found else Span(source, 0, 1)


def _wrong_fields(source: Source, table: dict[str, object]) -> Iterator[Diagnostic]:
    """Fields that are missing or of the wrong type."""
    meant = _misspelt(table)
    for f in fields(Machine):
        if f.name in table:
            if not _fits(f.name, table[f.name]):
                label = Label(_key(source, f.name), f"must be {_wanted(f.name)}")
                yield Diagnostic("F153", f"`{f.name}` is {shown(table[f.name])}", (label,))
            continue
        near = meant.get(f.name)
        labels = (Label(_key(source, near), f"not a field: `{f.name}` is meant?"),) if near else ()
        headline = f"machine file `{source.name}` has no field `{f.name}`"
        yield Diagnostic("F153", headline, labels, help=f"every field of `{SCHEMA}` is required")


def _unknown_fields(source: Source, table: dict[str, object]) -> Iterator[Diagnostic]:
    """What no field of the schema is called, save where a missing field's message shows it already."""
    names = [f.name for f in fields(Machine)]
    for name in sorted(table.keys() - set(names) - set(_misspelt(table).values()))[:_TOLD]:
        near = get_close_matches(name, names, 1)
        said = f"`{near[0]}` is one, and set already" if near else "`mdh devices --export -` prints them all"
        yield Diagnostic("F153", f"`{SCHEMA}` has no field `{name}`", (Label(_key(source, name)),), help=said)


def _misspelt(table: dict[str, object]) -> dict[str, str]:
    """Missing field -> the unknown one that is closest to it."""
    names = {f.name for f in fields(Machine)}
    # comparing names takes time: nobody misspells more of them
    unknown = sorted(n for n in table.keys() - names if len(n) < 40)[: 2 * _TOLD]
    near = {name: get_close_matches(name, unknown, 1) for name in sorted(names - table.keys())}
    return {name: found[0] for name, found in near.items() if found}


def _kind_of(name: str) -> object:
    return next(f.type for f in fields(Machine) if f.name == name)


def _fits(name: str, value: object) -> bool:
    kind = _kind_of(name)
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return _positive(value)
    if kind is float:
        return is_number(value) and isinstance(value, int | float) and value > 0
    if kind is str:
        return isinstance(value, str) and bool(NAME.fullmatch(value) if name == "name" else value)
    if not isinstance(value, list):
        return False
    if name in ("targets", "copy_engines"):
        allowed = _TARGETS if name == "targets" else _ENGINES
        return bool(value) and all(v in allowed for v in value)
    return all(map(_positive, value)) and (name not in _TRIPLES or len(value) == 3)


def _positive(value: object) -> bool:
    return is_count(value) and isinstance(value, int) and value > 0


def _wanted(name: str) -> str:
    kind = _kind_of(name)
    if name in ("targets", "copy_engines"):
        return f"a list of {', '.join(_TARGETS if name == 'targets' else _ENGINES)}"
    if name in _TRIPLES:
        return "three positive integers: x, y, z"
    if name == "name":
        return "a name: letters, digits, `.`, `_`, `+` and `-`"
    plain = {bool: "true or false", int: "a positive integer", float: "a positive number", str: "a text"}
    return plain[kind] if isinstance(kind, type) and kind in plain else "a list of positive integers"


def _convert(name: str, value: object) -> object:
    if isinstance(value, list):
        return tuple(map(Engine, value)) if name == "copy_engines" else tuple(value)
    return float(value) if _kind_of(name) is float and isinstance(value, int | float) else value


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
