"""The passes one after the other: each leaves a kernel that holds, and changes what its golden shows."""

import difflib

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Call, Const, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Barrier, Buf, For, ForKind, If, Kernel, Launch, Let, Stmt, Store
from mdh.ir.verify import Malformed, verify_kernel
from mdh.ir.walk import statements
from mdh.lower.passes.table import BEFORE, PASS_NAMES, PASSES
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.module_text import kernel_text
from mdh.schedule.default import default_schedule
from tests.support.corpus import WORKLOADS
from tests.support.golden_plans import MACHINES, PROGRAMS, check_golden, plan_of, random_plans
from tests.support.source_tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "passes"


class Watch:
    """Verifies every kernel between the passes. texts: what each pass left, kernel after kernel."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def __call__(self, name: str, kernel: Kernel) -> None:
        verify_kernel(kernel)
        if name in PASS_NAMES[PASS_NAMES.index("vectorise") :]:
            assert not any(isinstance(s, For) and s.kind is ForKind.VEC for s in statements(kernel.body))
        self.texts.append((name, kernel_text(kernel)))

    @property
    def changes(self) -> str:
        """The kernels before their first passes, and what each pass changed."""
        out, last = [], ""
        for name, text in self.texts:
            if name == BEFORE:
                out.append(text)
            elif text == last:
                out.append(f"--- {name}: unchanged\n")
            else:
                pairs = last.splitlines(True), text.splitlines(True)
                lines = list(difflib.unified_diff(*pairs, n=0))[2:]
                out.append("".join([f"--- {name}\n", *(x for x in lines if not x.startswith("@@"))]))
            last = text
        return "".join(out)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_each_pass_changes(name: str, machine: str, update_golden: bool) -> None:
    watch = Watch()
    lower(plan_of(name, machine), watch)
    check_golden(watch.changes, GOLDEN / f"{name}.{machine}.txt", update_golden)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", WORKLOADS)
def test_every_pass_leaves_a_kernel_that_holds(name: str, machine: str) -> None:
    work, known, target = WORKLOADS[name], load_machine(machine), MACHINES[machine]
    program = read_program(work.source, defines=dict(work.full))
    lower(check(program, default_schedule(program, known, target), known, target), Watch())


@pytest.mark.parametrize("seed", range(40))
def test_so_does_every_pass_of_random_programs_and_schedules(seed: int) -> None:
    for plan in random_plans(seed, *MACHINES.items(), ("generic-cpu", "opencl")):
        lower(plan, Watch())


def test_names_of_passes_are_those_of_their_files() -> None:
    files = {p.stem for p in (ROOT / "mdh" / "lower" / "passes").glob("*.py")}
    assert {one.name for one in PASSES} <= files


TID = Call(Intrinsic.THREAD_ID, (Const(0, I32),), I32)
BAD: dict[str, tuple[Stmt, ...]] = {
    "only some threads": (
        Let("t", TID), If(Binary("<", Var("t", I32), Const(3, I32), I32), (Barrier(),)),
    ),
    "is given i32": (Store("y", (Const(0, I32),), Const(1, I32)),),
    "used before": (Store("y", (Var("i", I32),), Const(1.0, F32)),),
    "has 1 dims": (Store("y", (), Const(1.0, F32)),),
}  # fmt: skip


@pytest.mark.parametrize("said", BAD)
def test_what_does_not_hold_is_found(said: str) -> None:
    y = Buf("y", Space.DM, F32, (4,), (1,))
    kernel = Kernel("f", "y", (y,), (), Launch((1, 1, 1), (4, 1, 1)), BAD[said])
    with pytest.raises(Malformed, match=said):
        verify_kernel(kernel)
