"""Expressions bit for bit: the C compiler against the interpreter, the reference and device `c`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mdh.device.api import open_device
from mdh.device.c import CDevice
from mdh.device.protocols import Executable
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.reference import evaluate
from mdh.reference.numbers import numpy_dtype
from mdh.target.emit import emit
from mdh.target.text import KernelText
from tests.soundness.batch import built_together
from tests.soundness.data import Flat, arguments_of, shaped
from tests.soundness.expressions import PER, random_expressions
from tests.soundness.native import Library, compilers
from tests.soundness.shrink import shrunk
from tests.soundness.tree import Tree, lines_of, text_of
from tests.soundness.verdict import alike
from tests.support.exact_interpreter import interpret
from tests.support.pairs import planned


@dataclass
class Tally:
    """How many expressions each was equal for; `differences`: (function, by whom, sentence)."""

    equal: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    differences: list[tuple[Tree, str, str]] = field(default_factory=list)


def expressions_on(setting: str) -> Callable[[Sequence[int]], Tally]:
    """The task of a process. setting: `c` to run them on that device too."""
    device = open_device("c") if setting == "c" else None
    assert device is None or isinstance(device, CDevice)
    return lambda seeds: compared_bits([random_expressions(s) for s in seeds], device)


def compared_bits(trees: Sequence[Tree], device: CDevice | None) -> Tally:
    """All functions in one library; a compiler's bits are what the others have to have."""
    tally = Tally()
    native = {c.rsplit("/", 1)[-1]: Library(trees, c) for c in compilers()}
    programs: dict[int, Program] = {}
    for k, tree in enumerate(trees):
        try:
            programs[k] = read_program(tree.source, strict_fp=True)
        except Failed as failed:
            tally.refused += PER
            # C has no meaning for a signed constant that overflows; there are limits to what is written out
            if any(d.code not in ("C114", "C121") for d in failed.diagnostics):
                tally.differences.append((tree, "the front end", failed.diagnostics[0].headline))
    flats = {k: arguments_of(trees[k], k) for k in programs}
    builds = {} if device is None else _builds(programs, device)
    for k, program in programs.items():
        tree, flat = trees[k], flats[k]
        want = next(library.run(tree, flat) for library in native.values())
        for by, library in list(native.items())[1:]:
            _count(tally, tree, by, want, library.run(tree, flat))
        assert program.syntax is not None
        _count(tally, tree, "interpreter", want, interpret(program.syntax, flat, tree.sizes))
        if "fma(" not in tree.source.text:
            # the reference rounds the product before it adds
            with np.errstate(all="ignore"):
                plain = evaluate(program, shaped(program, flat), tree.sizes)
            _count(tally, tree, "reference", want, plain)
        if k in builds:
            _count(tally, tree, "device c", want, _run(program, builds[k], flat))
    return tally


def _builds(programs: Mapping[int, Program], device: CDevice) -> dict[int, Callable[[], Executable]]:
    texts: dict[int, KernelText] = {
        k: emit(lower(planned(p, None, device.machine, device.target)), p) for k, p in programs.items()
    }
    return {k: partial(device.build, t) for k, t in texts.items()} | built_together(device, texts)


def _run(program: Program, build: Callable[[], Executable], flat: Flat) -> dict[str, Any]:
    arrays = {n: a.copy() for n, a in shaped(program, flat).items()}
    scalars = {s.name: numpy_dtype(s.dtype).type(s.size) for s in program.scalars}
    build().call(arrays, scalars).launch()
    return arrays


def _count(tally: Tally, tree: Tree, by: str, want: Flat, got: Mapping[str, Any]) -> None:
    for name in (n for n in tree.params if n.startswith("o") and n in got):
        a, b = want[name], got[name].reshape(-1)
        same = alike(a, b)
        if same.all():
            tally.equal[by] = tally.equal.get(by, 0) + 1
            continue
        at = int(np.argmin(same))
        line = next((x for x in lines_of(tree.body, 0) if x.strip().startswith(f"{name}[")), "")
        tally.differences.append((tree, by, f"{name}[{at}] is {b[at]}, not {a[at]}: {line.strip()}"))


def smallest(tree: Tree, by: str) -> str:
    """The smallest text on which the same two differ."""
    device = open_device("c") if by == "device c" else None
    assert device is None or isinstance(device, CDevice)

    def differs(t: Tree) -> bool:
        return any(d[1] == by for d in compared_bits([t], device).differences)

    return text_of(shrunk(tree, differs, 200)) if differs(tree) else text_of(tree)
