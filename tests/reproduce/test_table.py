"""The table of experiments: programs, sizes, schedules, peers and figures of papers."""

from importlib import import_module

import pytest

from bench.gpu.language_cases import tc_cases
from mdh.cli.completion import experiments
from mdh.compare.closing import is_open
from mdh.compare.library import NAMES
from mdh.compare.numpy_calls import PEERS
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.reference import evaluate_bounded
from mdh.reproduce.cases import defines_of, schedule_source, source_of
from mdh.reproduce.table import EXPERIMENTS, LEFT_OUT, experiment_called, names
from mdh.results.experiment import Case
from mdh.schedule.parser import parse_schedule
from mdh.verify.arguments import guarded, make_arrays, make_scalars
from mdh.verify.verdict import judge

FEW = 2
"""Cases of those experiments whose cases are one program at many sizes."""
CASES = {
    f"{e.name} {c.name}": c for e in EXPERIMENTS for c in (e.cases if len(e.cases) < 50 else e.cases[:FEW])
}
CALLED = {(c.program, p.call): c for c in CASES.values() for p in c.peers if p.call}
"""A case of each program and computation by name."""
MOST = 6
"""Of sizes in what numpy and torch are tried on."""
MACHINES = {"generic-cpu": "generic-cpu", "h100": "h100"}
"""Machines of schedules by a word of their names; the others' is an H200."""


def _program(case: Case, most: int | None = None) -> Program:
    """At the case's sizes, none above `most` but those of constants."""
    defines = defines_of(case)
    kept = {d for c in case.constants for d in case.sizes if d[1] in c.shape}
    small = {
        n: v if most is None or not isinstance(v, int) or (n, v) in kept else min(v, most)
        for n, v in defines.items()
    }
    return Pipeline().read(source_of(case), defines=small)


def test_names_are_unique_and_completed() -> None:
    every = [*names(), *(e.name for e in LEFT_OUT)]
    assert len(set(every)) == len(every)
    assert experiments("diesel-") == ["diesel-sgemm", "diesel-dgemm", "diesel-layer"]
    assert {"tc-table", "hipar-listing1"} <= set(names())
    for one in EXPERIMENTS:
        cases = [c.name for c in one.cases]
        assert len(set(cases)) == len(cases) and experiment_called(one.name) is one


def test_figures_are_of_the_papers_machines() -> None:
    for one in EXPERIMENTS:
        assert {m.kind for m in one.machines} <= set(one.kinds)
        peers = {p.name for c in one.cases for p in c.peers}
        assert {t.peer for t in one.totals} <= peers
        for case in one.cases:
            assert all(f.ratio > 0 for f in case.figures)
            assert len({(f.machine, f.against) for f in case.figures}) == len(case.figures)


@pytest.mark.parametrize("name", CASES)
def test_programs_are_read_and_schedules_are_legal(name: str) -> None:
    """At the sizes of the case. A schedule with holes is one where nothing but a search says more."""
    case = CASES[name]
    program = _program(case)
    every = (*case.written, *(s for some in case.schedules.values() for s in some))
    for schedule in every:
        parsed = parse_schedule(schedule_source(schedule))
        if is_open(parsed):
            continue
        machine = load_machine(next((m for word, m in MACHINES.items() if f"/{word}/" in schedule), "h200"))
        target = "c" if machine.kind == "cpu" else "cuda"
        checked = Pipeline().check(program, parsed, machine, target)
        assert checked.plan.program is program, schedule


def test_the_papers_kernels_are_those_that_the_bench_measures() -> None:
    table = experiment_called("tc-table")
    assert table is not None
    mine = {c.name: (c.program.removesuffix(".tc"), dict(c.sizes)) for c in table.cases}
    for case in tc_cases():
        assert mine[case.name.removeprefix("TC ")] == (case.program, dict(case.sizes))


def test_peers_are_known() -> None:
    for case in CASES.values():
        for peer in case.peers:
            assert peer.library in NAMES
            assert peer.library != "numpy" or not peer.call or peer.call in PEERS


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
@pytest.mark.parametrize("key", CALLED, ids=lambda key: f"{key[0]}-{key[1]}")
def test_libraries_compute_what_the_program_means(library: str, key: tuple[str, str]) -> None:
    case, call = CALLED[key], key[1]
    if not any(p.library == library and p.call == call for p in case.peers):
        pytest.skip(f"{library} has no such call")
    program = _program(case, MOST)
    before, scalars = make_arrays(program, {}, 1, "exact"), make_scalars(program, {}, 1)
    constants = _constants(program)
    held = {n: guarded(a) for n, a in before.items()}
    values = {**constants, **scalars, **{n: g.array for n, g in held.items()}}
    bound = import_module(f"mdh.compare.by_{library}").named(call, values, "cpu")
    bound.call()
    bound.fetch()
    want = evaluate_bounded(program, before, scalars, exact=False)
    assert judge(program, before, held, want) == []


def _constants(program: Program) -> dict[str, object]:
    found: dict[str, object] = import_module("mdh.compare.timing")._constants(program)
    return found
