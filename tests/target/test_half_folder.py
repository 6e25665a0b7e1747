"""Folders of programs with 16-bit floats build with C compilers that lack the types."""

import subprocess
from pathlib import Path

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import HALF_TYPES, folder, half_types
from tests.support.native import knows
from tests.target.test_folder import build, run, write

TEXT = "void twice(const {t} x[64], {t} y[64]) {{ for (int i = 0; i < 64; i++) y[i] = x[i] + x[i]; }}\n"
SCALED = TEXT.replace("const {t} x[64]", "const {t} x[64], {t} s").replace("x[i] + x[i]", "x[i] * s")
TYPES = tuple(HALF_TYPES)


def product(text: str, **defines: int | str) -> dict[str, str]:
    program = read_program(Source("twice.c", text), defines=defines)
    machine = load_machine("generic-cpu")
    plan = check(program, default_schedule(program, machine, "opencl"), machine, "opencl")
    return folder(emit(lower(plan), program), program, plan.text, defines=defines)


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("defined", [False, True])
def test_the_result_is_checked_where_the_compiler_can(tmp_path: Path, ctype: str, defined: bool) -> None:
    files = product(TEXT.format(t="T"), T=ctype) if defined else product(TEXT.format(t=ctype))
    build(write(files, tmp_path))
    done = run(tmp_path, "twice", "Portable", "--repeat", "0")
    if knows(ctype):
        assert (done.stdout, done.stderr) == ("twice: ok (worst error 0)\n", "")
    else:
        assert done.stdout == "twice: not checked (worst error 0)\n"
        said = f"the result is not checked: the C compiler that built this has no {ctype}\n"
        assert done.stderr.endswith(said), done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("ctype", TYPES)
def test_numbers_travel_as_float(tmp_path: Path, ctype: str) -> None:
    """The kernel, the launcher and the judge mean the same number, 2."""
    files = product(SCALED.format(t=ctype))
    assert "float s" in files["twice.h"]
    build(write(files, tmp_path))
    done = run(tmp_path, "twice", "Portable", "--repeat", "0")
    assert done.stdout == f"twice: {'ok' if knows(ctype) else 'not checked'} (worst error 0)\n", done.stderr


@pytest.mark.parametrize("ctype", TYPES)
def test_a_compiler_without_the_type_builds_the_judge(tmp_path: Path, ctype: str) -> None:
    write(product(TEXT.format(t=ctype)), tmp_path)
    without = ["-U__FLT16_MAX__", "-U__BFLT16_MAX__", "-U__SSE2__", "-U__clang__"]
    command = ["cc", "-std=c11", "-Werror", *without, f"-D{ctype}=absent", "-c", "reference.c", "-o", "r.o"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert ctype.encode() in (tmp_path / "r.o").read_bytes()


def test_only_code_needs_a_type() -> None:
    assert half_types('// __bf16\n/* _Float16\n */ const char *s = "_Float16"; float my__bf16;') == ()
    assert half_types("float f(_Float16 x, const __bf16*y);") == TYPES
