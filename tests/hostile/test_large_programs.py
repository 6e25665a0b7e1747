"""Programs of many statements, and of the largest sizes, are compiled in little time."""

from collections.abc import Callable
from time import process_time

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.grid import divisors
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import folder
from tests.support.corpus import WORKLOADS

SECONDS = 6.0
"""Of processor time; these took 25 to 60 before the work became linear in the text, and take one now."""
EMITTED = 1.0
"""Of processor time. It was twice to four times as much where each declaration, or each level of a
condition, had the whole kernel or condition searched."""
COUNT = 250
MACHINE = load_machine("generic-cpu")


def in_loop(statements: str, parameters: str) -> Program:
    head = f"void f({parameters}, const float x[64]) {{\n for (int i = 0; i < 64; i++) {{\n"
    return read_program(Source("a.c", f"{head}{statements} }}\n}}\n"))


STATEMENTS = {
    "one array": ("float y[64]", "y[i] += x[i] * {k};\n"),
    "one array each": (", ".join(f"float y{k}[64]" for k in range(COUNT)), "y{k}[i] = x[i] * {k};\n"),
    "sums": (", ".join(f"float y{k}[1]" for k in range(COUNT)), "y{k}[0] += x[i] * {k};\n"),
    "locals": ("float y[64]", "float t{k} = x[i] * {k};\n"),
}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_many_statements_in_a_loop(kind: str) -> None:
    parameters, statement = STATEMENTS[kind]
    begun = process_time()
    last = "y[i] = t7;\n" if kind == "locals" else ""
    program = in_loop("".join(statement.format(k=k) for k in range(COUNT)) + last, parameters)
    assert process_time() - begun < SECONDS
    assert program.stages


def test_many_branches() -> None:
    begun = process_time()
    chain = "".join(f"if (x[i] == {k}) y[i] = {k}; else\n" for k in range(90))
    program = in_loop(chain + "y[i] = 0;", "float y[64]")
    assert process_time() - begun < SECONDS
    assert len(program.stages) == 1


@pytest.mark.parametrize("name", ["matmul", "batched_matmul"])
def test_default_schedule_of_the_largest_size(name: str) -> None:
    source = WORKLOADS[name].source
    program = read_program(source, defines={"M": 2**31 - 1})
    begun = process_time()
    assert default_schedule(program, MACHINE, "c").sections
    assert process_time() - begun < SECONDS


def many_outputs() -> Program:
    """Each with a register array of its own."""
    outputs = ", ".join(f"float y{k}[100]" for k in range(150))
    sums = "".join(f"y{k}[i] += x[i][j] * {k};\n" for k in range(150))
    loops = f"for (int i = 0; i < 100; i++)\n for (int j = 0; j < 100; j++) {{\n{sums} }}"
    return read_program(Source("a.c", f"void f({outputs}, const float x[100][100]) {{\n {loops} }}\n"))


def many_guards() -> Program:
    """A condition of vectors, 150 levels deep."""
    guards = " && ".join(f"{k + 1} * i + {150 - k} * j > {k}" for k in range(150))
    body = (
        f"for (int i = 0; i < 1000; i++)\n for (int j = 0; j < 1000; j++)\n if ({guards}) y[i][j] = x[i][j];"
    )
    arrays = "float y[1000][1000], const float x[1000][1000]"
    return read_program(Source("a.c", f"void f({arrays}) {{\n {body} }}\n"))


@pytest.mark.parametrize(
    ("made", "machine", "target"), [(many_outputs, "h200", "cuda"), (many_guards, "generic-cpu", "c")]
)
def test_large_kernels_are_emitted_in_time(made: Callable[[], Program], machine: str, target: str) -> None:
    model = load_machine(machine)
    program = made()
    module = lower(check(program, default_schedule(program, model, target), model, target))
    taken = []
    for _ in range(3):
        begun = process_time()
        assert emit(module, program).source
        taken.append(process_time() - begun)
    # on a busy machine one turn may take several times as long
    assert min(taken) < EMITTED, taken


def test_divisors() -> None:
    assert divisors(1) == [1]
    assert divisors(36) == [1, 2, 3, 4, 6, 9, 12, 18, 36]
    assert divisors(2**31 - 1) == [1, 2**31 - 1]


NAMES = ["Makefile.c", 'a"b.c', "a\\b.c", "a\nb.c", "main.c", "reference.c", "manifest.json"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_c_file_leave_the_folder_whole(name: str) -> None:
    """make would build `Makefile` from `Makefile.c`, and `#include` cannot name what holds a quote."""
    text = "void f(float y[8]) { for (int i = 0; i < 8; i++) y[i] = 1; }"
    program = read_program(Source(f"somewhere/{name}", text))
    plan = check(program, default_schedule(program, MACHINE, "c"), MACHINE, "c")
    files = folder(emit(lower(plan), program), program, plan.text)
    own = next(n for n, content in files.items() if content == text)
    assert len(files) == 9
    assert "Makefile.c" not in files
    assert own.isprintable() and not set(own) & set('"\\')
    assert f'#include "{own}"' in files["reference.c"]


def test_what_reads_itself_twice_and_again() -> None:
    """Each epilogue that is joined to a reduction reads it twice: 20 of them would be a million terms."""
    again = "y[i] = y[i] + x[i] > 0 ? y[i] + x[i] : 0;\n" * 20
    loops = "for (int i = 0; i < 64; i++) {\n y[i] = 0;\n for (int k = 0; k < 64; k++) y[i] += x[k];\n"
    begun = process_time()
    program = read_program(
        Source("a.c", f"void f(float y[64], const float x[64]) {{\n {loops}{again} }}\n}}\n")
    )
    assert process_time() - begun < SECONDS
    assert len(program.stages) > 1
