"""The folder of a table builds with a C compiler alone, and its launcher chooses by the sizes."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.cli.main import run as mdh
from mdh.device.cubins import cached_cubin
from mdh.ir.numerics import Numerics
from mdh.ir.open_size import OpenSize
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.cases import Table
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.dispatch import Version, as_version, dispatch_folder
from tests.target.test_folder import build, run

MACROS = """#ifndef M
#define M 8
#endif
#ifndef N
#define N 16
#endif
void mm(const float A[M][24], const float B[24][N], float C[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < 24; k++)
                C[i][j] += A[i][k] * B[k][j];
}
"""
PARAMETERS = MACROS[MACROS.index("void") :].replace("mm(", "mm(int N, int M, ")
STAGES = """void two(int M, const int x[M], int y[M], int z[M]) {
    for (int i = 0; i < M; i++)
        y[i] = x[i] + 1;
    for (int i = 0; i < M; i++)
        z[i] = y[i] * 2;
}
"""
ONE = "over M=1 { 1: (de-)comp( ^, 4, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ ) }\n"
ROWS = "over M=2..9 { 1: (de-)comp( 2, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ ) }\n"
EIGHTS = "over M=8..64:8 { 1: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ ) }\n"
# blocks share the sums, which a second kernel adds up in a workspace
SHARED = "over M=1..64 { 1: (de-)comp( 8, ^, 12 ) ( ^, ^ ; ^@combine(kernel) ) ( BLK.x, ^, BLK.y ) }\n"
TABLE = ONE + ROWS + EIGHTS + SHARED


def _folder(tmp_path: Path, text: str, table: str, *words: str) -> Path:
    (tmp_path / "input.c").write_text(text, encoding="utf-8")
    (tmp_path / "table.mdh").write_text(table, encoding="utf-8")
    out = tmp_path / "out"
    given = ["compile", str(tmp_path / "input.c"), "--schedule", str(tmp_path / "table.mdh"), "-o", str(out)]
    assert mdh([*given, "--no-warnings", *words]) == 0
    return out


@pytest.mark.parametrize("target", ["c", "opencl"])
@pytest.mark.parametrize("text", [MACROS, PARAMETERS], ids=["macros", "parameters"])
def test_every_version_is_chosen_and_right(tmp_path: Path, target: str, text: str) -> None:
    out = _folder(tmp_path, text, TABLE, "-m", "generic-cpu", "--target", target, "-D", "N=16")
    build(out)
    for size in (1, 2, 7, 8, 9, 10, 64, 63):
        done = run(out, "mm", "Portable", "--repeat", "0", f"M={size}")
        assert done.stdout == "mm: ok (worst error 0)\n", (size, done.stderr)
    assert run(out, "mm", "Portable", "M=65").returncode == 2
    assert "M >= 8 && M <= 64 && M % 8 == 0" in (out / "mm_launch.c").read_text(encoding="utf-8")


def test_sizes_between_cases_are_refused(tmp_path: Path) -> None:
    out = _folder(tmp_path, PARAMETERS, ONE + EIGHTS, "-m", "generic-cpu", "--target", "c", "-D", "N=16")
    build(out)
    done = run(out, "mm", "", "--repeat", "0", "M=7")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no kernel" in done.stderr


def test_two_sizes_and_two_stages(tmp_path: Path) -> None:
    table = "".join(
        f"over M={m} N={n} {{ 1: (de-)comp( {a}, {b}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) }}\n"
        for m, n, a, b in (("1", "4..40:4", "^", 4), ("2..30", "1..40", 5, 7))
    )
    (tmp_path / "two").mkdir()
    out = _folder(tmp_path / "two", MACROS, table, "-m", "generic-cpu", "--target", "c")
    build(out)
    for m, n in ((1, 4), (1, 40), (2, 1), (30, 39)):
        done = run(out, "mm", "", "--repeat", "0", f"M={m}", f"N={n}")
        assert done.stdout == "mm: ok (worst error 0)\n", (m, n, done.stderr)
    each = "stage y { 1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x ) }"
    stages = f"over M=1..8 {{ {each.replace('8', '1')} }}\nover M=9..99 {{ {each} }}\n"
    out = _folder(tmp_path, STAGES, stages, "-m", "generic-cpu", "--target", "c")
    build(out)
    for m in (1, 8, 9, 99):
        done = run(out, "two", "", "--repeat", "0", f"M={m}")
        assert done.stdout == "two: ok (worst error 0)\n", (m, done.stderr)


BOXES = "over M=1 N=1..40 { 1: (de-)comp( ^, 4, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ ) }\n"
BOXES += "over M=2..30 N=1..8 { 1: (de-)comp( 5, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ ) }\n"


def test_a_run_without_sizes_is_at_sizes_of_a_version(tmp_path: Path) -> None:
    """M=30 and N=40 are the largest values, and no version takes both."""
    out = _folder(tmp_path, MACROS, BOXES, "-m", "generic-cpu", "--target", "c")
    build(out)
    assert run(out, "mm", "", "--repeat", "0").stdout == "mm: ok (worst error 0)\n"
    assert run(out, "mm", "", "--repeat", "0", "M=30", "N=40").returncode == 1


@pytest.mark.parametrize("target", ["c", "opencl"])
@pytest.mark.parametrize(
    "text",
    [PARAMETERS.replace("C[", "mm_1["), "int mm_1_kernel(int x) { return x; }\n" + PARAMETERS],
    ids=["parameter", "function"],
)
def test_versions_have_no_name_of_the_c(tmp_path: Path, target: str, text: str) -> None:
    words = ("-m", "generic-cpu", "--target", target, "-D", "N=16", "--function", "mm")
    out = _folder(tmp_path, text, TABLE, *words)
    build(out)
    for size in (1, 9, 63):
        done = run(out, "mm", "Portable", "--repeat", "0", f"M={size}")
        assert done.stdout == "mm: ok (worst error 0)\n", (size, done.stderr)
    names = [
        v["function"] for v in json.loads((out / "manifest.json").read_text(encoding="utf-8"))["versions"]
    ]
    assert names == ["mm_v1", "mm_2", "mm_3", "mm_4"]


def test_manifest_and_table(tmp_path: Path) -> None:
    out = _folder(tmp_path, PARAMETERS, TABLE, "-m", "generic-cpu", "--target", "c", "-D", "N=16")
    data = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert data["schema"] == "mdh.dispatch/1"
    assert [v["sizes"]["M"] for v in data["versions"]] == [
        {"least": a, "most": b, "multiple": m} for a, b, m in ((1, 1, 1), (2, 9, 1), (8, 64, 8), (1, 64, 1))
    ]
    names = [k["name"] for v in data["versions"] for k in v["kernels"]]
    assert len(names) == len(set(names)) == 5
    assert data["versions"][3]["workspaces"]
    assert data["files"] == sorted(p.name for p in out.iterdir())
    table = (out / "mm.mdh").read_text(encoding="utf-8")
    assert len(parse_schedule(Source("t", table)).cases) == 4


def test_cuda_versions_compile() -> None:
    source, pipeline, machine = Source("mm.c", PARAMETERS), Pipeline(), load_machine("h200")
    table = Table(parse_schedule(Source("t", TABLE)))
    versions = []
    for number, case in enumerate(table.cases, 1):
        program = pipeline.read(source, defines={"N": 16}, ranges=table.ranges(case))
        plan = as_version(pipeline.check(program, table.alone(case), machine, "cuda").plan, number)
        versions.append(Version(table.ranges(case), plan, pipeline.emit(pipeline.lower(plan), plan.program)))
        assert cached_cubin(versions[-1].text, machine.arch, None).image
    whole = pipeline.read(source, defines={"N": 16}, ranges=(OpenSize("M", 1, 64),))
    files = dispatch_folder(versions, whole, "", arch=machine.arch)
    assert "return mm_4(N, M, A, B, C, stream);" in files["mm_launch.c"]
    assert "mm_launch.c mm_1_launch.cu" in files["Makefile"]


@pytest.mark.parametrize("first", [0, 1])
def test_the_least_exact_version_gives_the_tolerance(first: int) -> None:
    """Whatever the order of the versions."""
    pipeline, machine = Pipeline(), load_machine("h200")
    source, versions = Source("mm.c", PARAMETERS.replace("24", "4096")), []
    bits = (Numerics(sum_bits=13, block=2, promote=128), Numerics(sum_bits=13, block=2))
    for number, least in enumerate((1, 33), 1):
        ranges = (OpenSize("M", least, least + 31),)
        program = pipeline.read(source, defines={"N": 16}, ranges=ranges)
        plan = as_version(pipeline.check(program, None, machine, "cuda").plan, number)
        text = pipeline.emit(pipeline.lower(plan), plan.program)
        stage = plan.program.stages[0].name
        numerics = ((stage, bits[(first + number - 1) % 2]),)
        versions.append(Version(ranges, plan, replace(text, numerics=numerics)))
    whole = pipeline.read(source, defines={"N": 16}, ranges=(OpenSize("M", 1, 64),))
    files = dispatch_folder(versions, whole, "", arch=machine.arch)
    assert "tolerance[] = { 4e-3, 3e-2, 1, 1e-12 };" in files["main.c"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda_folder_links(tmp_path: Path) -> None:
    out = _folder(tmp_path, PARAMETERS, TABLE, "-m", "h200", "--target", "cuda", "-D", "N=16")
    done = subprocess.run(["make", "-s"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stdout + done.stderr


COST = """#include <stdio.h>
#include <time.h>
#include "mm.h"
int main(void)
{
    static float A[64 * 24], B[24 * 16], C[64 * 16];
    struct timespec a, b;
    const int calls = 10000000;
    volatile int size = 1000;
    int sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < calls; ++i)
        sum += mm(16, size, A, B, C);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%d %g", sum == -calls, ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls);
    return 0;
}
"""


def test_a_choice_costs_nanoseconds(tmp_path: Path) -> None:
    """A size that no version takes passes all comparisons, and runs nothing."""
    out = _folder(tmp_path, PARAMETERS, TABLE, "-m", "generic-cpu", "--target", "c", "-D", "N=16")
    build(out)
    (out / "cost.c").write_text(COST, encoding="utf-8")
    sources = [str(p) for p in (*out.glob("*_launch.c"), *out.glob("*_kernels.o"), out / "cost.c")]
    subprocess.run(["cc", "-O1", "-fopenmp", *sources, "-o", str(out / "cost")], check=True)
    done = subprocess.run([str(out / "cost")], capture_output=True, text=True, check=True)
    refused, each = done.stdout.split()
    assert refused == "1"
    assert float(each) < 100
