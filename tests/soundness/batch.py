"""Batches of seeds, the tasks of the campaign's processes."""

import ctypes
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Any

from mdh.device.api import open_device
from mdh.device.c import CBuilt, CDevice
from mdh.device.c_compiler import compiled
from mdh.device.protocols import Device, Executable
from mdh.diagnostics import Failed
from mdh.machine import Machine, load_machine
from mdh.target.text import KernelText
from tests.soundness.generator import random_statements
from tests.soundness.native import Library, compilers
from tests.soundness.sanitized import examined_by_tools
from tests.soundness.shrink import shrunk
from tests.soundness.tree import Tree, text_of
from tests.soundness.trial import Ready, examined, executed, native_difference, prepared
from tests.soundness.verdict import EQUAL, Verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """device: its spec, or `none`. schedules: random ones in place of the default. machine: a machine file's
    name where it is not the device's own. native: compare the interpreter with the compilers found.
    sanitized: on `c`, as programs of their own under sanitizers."""

    device: str = "none"
    schedules: bool = False
    machine: str = ""
    native: bool = False
    sanitized: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one seed."""

    seed: int
    kind: str
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.kind, self.detail)


def batches_on(setting: dict[str, Any]) -> Callable[[Sequence[int]], list[dict[str, Any]]]:
    """The task of a process: one device for all seeds that it gets."""
    bench = Bench(Setting(**setting))
    return lambda seeds: [asdict(Row(s, v.kind, v.detail)) for s, v in bench.verdicts(seeds).items()]


def shrinking_on(setting: dict[str, Any]) -> Callable[[Row], str]:
    """The task of a process: the smallest text that fails like the program of a row."""
    bench = Bench(Setting(**setting))
    return bench.shrunk_text


class Bench:
    """A device, or none."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.device: Device | None = None if setting.device == "none" else open_device(setting.device)
        self.machine: Machine | None = None
        if self.device is not None:
            self.machine = load_machine(setting.machine) if setting.machine else self.device.machine

    def verdicts(self, seeds: Sequence[int]) -> dict[int, Verdict]:
        trees = {s: random_statements(s) for s in seeds}
        found = {s: examined(t, s) for s, t in trees.items()}
        out = {s: EQUAL if isinstance(r, Ready) else r for s, r in found.items()}
        ready = {s: r for s, r in found.items() if isinstance(r, Ready)}
        if self.setting.native:
            out |= _by_compilers(ready)
        if self.device is not None:
            out |= self._on_device({s: r for s, r in ready.items() if out[s] == EQUAL})
        return out

    def verdict(self, tree: Tree, seed: int) -> Verdict:
        """Of one program."""
        found = examined(tree, seed)
        if isinstance(found, Verdict):
            return found
        if self.setting.native:
            native = _by_compilers({seed: found}).get(seed, EQUAL)
            if native != EQUAL:
                return native
        return EQUAL if self.device is None else self._on_device({seed: found})[seed]

    def _on_device(self, ready: dict[int, Ready]) -> dict[int, Verdict]:
        device, machine = self.device, self.machine
        assert device is not None and machine is not None
        texts = {
            s: prepared(r, machine, device.target, s if self.setting.schedules else None)
            for s, r in ready.items()
        }
        out = {s: t for s, t in texts.items() if isinstance(t, Verdict)}
        good = {s: t for s, t in texts.items() if not isinstance(t, Verdict)}
        if self.setting.sanitized:
            assert isinstance(device, CDevice)
            return out | {s: examined_by_tools(ready[s], t, device.compiler) for s, t in good.items()}
        builds: dict[int, Callable[[], Executable]] = {s: partial(device.build, t) for s, t in good.items()}
        if isinstance(device, CDevice) and len(good) > 1:
            builds |= built_together(device, good)
        return out | {s: executed(ready[s], b, device.spec) for s, b in builds.items()}

    def shrunk_text(self, row: Row) -> str:
        """`row.kind` stays what it is; of a traceback, also where it was raised."""
        tree = random_statements(row.seed)

        def same(t: Tree) -> bool:
            v = self.verdict(t, row.seed)
            return v.kind == row.kind and (v.kind == "wrong" or _place(v.detail) == _place(row.detail))

        few = 1500 if self.device is None else 150
        return text_of(shrunk(tree, same, few))


def _place(detail: str) -> str:
    """The part of a sentence that names no program and no number."""
    return re.sub(r"\bf?\d+\w*|0x\w+", "", detail)[-120:]


def _by_compilers(ready: dict[int, Ready]) -> dict[int, Verdict]:
    """Those for which a compiler does not agree with the interpreter."""
    out: dict[int, Verdict] = {}
    for compiler in compilers() if ready else ():
        library = Library([r.tree for r in ready.values()], compiler)
        for s, r in ready.items():
            found = native_difference(r, library.run, compiler.rsplit("/", 1)[-1])
            if found != EQUAL:
                out[s] = found
    return out


def built_together(device: CDevice, texts: dict[int, KernelText]) -> dict[int, Callable[[], Executable]]:
    """One call of the compiler for all texts that are compiled alike; none where it refuses one of them."""
    out: dict[int, Callable[[], Executable]] = {}
    for options in {t.options for t in texts.values()}:
        mine = {s: t for s, t in texts.items() if t.options == options}
        whole = replace(next(iter(mine.values())), source="\n".join(_apart(t, s) for s, t in mine.items()))
        try:
            image = compiled(whole, device.compiler)
        except Failed:
            continue
        # one library for all: what is loaded stays loaded
        device.ready()
        with NamedTemporaryFile(prefix="mdh-sound-", suffix=".so") as file:
            file.write(image)
            file.flush()
            library = ctypes.CDLL(file.name)
        out |= {s: partial(CBuilt, device, t, image, library, 0.0) for s, t in mine.items()}
    return out


def _apart(text: KernelText, seed: int) -> str:
    """The text with names of its own for what is not called from outside."""
    source = text.source
    for name in set(re.findall(r"^static inline [^(]*?(\w+)\(", source, re.MULTILINE)):
        source = re.sub(rf"\b{name}\b", f"{name}_{seed}", source)
    return source
