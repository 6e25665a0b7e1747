"""The folder that `mdh compile` leaves builds with a C compiler alone and judges itself."""

import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path

import pyopencl
import pytest

from mdh.ir.dtype import I32
from mdh.ir.program import Program, Scalar
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import folder
from tests.target import features, modules

MATMUL = """#include <stddef.h>
#ifndef N
#define N 64
#endif
void matmul(int n, const float A[restrict n][n], const float B[restrict n][n], float C[restrict n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
}
"""
TICKET = """void ticket(int y[8])
{
    y[0] = 1;
    for (int b = 1; b < 8; b++)
        y[b] = y[b - 1] + 1;
}
"""
SCALED = "void scaled(const short *x, short *y) { for (int i = 0; i < 48; i++) y[i] = 3 * x[i] + y[i]; }\n"


def with_source(program: Program, text: str) -> Program:
    """The program as the front end would have read it, with its size bound where it has one."""
    program = dataclasses.replace(program, source=Source(f"somewhere/{program.name}.c", text))
    if program.name != "matmul":
        return program
    return dataclasses.replace(program, params=("n", *program.params), scalars=(Scalar("n", I32, 64),))


def write(files: dict[str, str], where: Path) -> Path:
    for name, content in files.items():
        (where / name).write_text(content)
    return where


def product(target: str) -> dict[str, str]:
    module, program = modules.matmul(target, 64)
    text = emit(dataclasses.replace(module, params=("n", *module.params)), program)
    return folder(text, with_source(program, MATMUL), "1: (de-)comp( 64,64,^ )", defines={"N": 64, "n": 64})


def environment(platform: str) -> dict[str, str]:
    """How a plain C program finds the OpenCL loader and drivers that wheels brought."""
    home = Path(pyopencl.__file__).parent
    libraries = sorted((home / ".libs").glob("libOpenCL*"))
    if not libraries:
        pytest.skip("pyopencl brings no OpenCL loader of its own")
    found = {"PYOPENCL_HOME": str(home), "LD_LIBRARY_PATH": str(home / ".libs")}
    return {**os.environ, **found, "OPENCL_LIBRARY": str(libraries[0]), "OPENCL_PLATFORM": platform}


def build(where: Path) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler")
    flags = "CFLAGS=-O2 -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -Wno-unused-parameter"
    subprocess.run(["make", "-s", flags], cwd=where, check=True, capture_output=True, text=True)


def run(where: Path, name: str, platform: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [str(where / name), *args]
    return subprocess.run(command, env=environment(platform), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("platform", ["Portable", "Oclgrind"])
def test_opencl_folder_runs_and_agrees(tmp_path: Path, platform: str) -> None:
    build(write(product("opencl"), tmp_path))
    done = run(tmp_path, "matmul", platform, "--repeat", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("matmul: ok (worst error 0), 2 runs, median ")


def test_a_driver_serves_without_a_loader(tmp_path: Path) -> None:
    driver = next((Path(pyopencl.__file__).parent / ".libs").glob("libpocl*"), None)
    if driver is None:
        pytest.skip("pyopencl brings no PoCL of its own")
    build(write(product("opencl"), tmp_path))
    found = {"OPENCL_LIBRARY": str(driver), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [str(tmp_path / "matmul"), "--repeat", "0"]
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)
    assert done.stdout == "matmul: ok (worst error 0)\n", done.stderr


def test_a_loader_without_drivers_is_told(tmp_path: Path) -> None:
    build(write(product("opencl"), tmp_path))
    library = environment("")["OPENCL_LIBRARY"]
    found = {"OPENCL_LIBRARY": library, "OCL_ICD_VENDORS": "/nonexistent", "PATH": os.environ["PATH"]}
    done = subprocess.run([str(tmp_path / "matmul")], env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("no OpenCL driver: set OPENCL_LIBRARY"), done.stderr


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ("/nonexistent.so", "cannot open shared object file"),
        ("libm.so.6", "neither an OpenCL loader nor a driver"),
    ],
)
def test_other_libraries_are_refused(tmp_path: Path, library: str, reason: str) -> None:
    build(write(product("opencl"), tmp_path))
    found = {**os.environ, "OPENCL_LIBRARY": library}
    done = subprocess.run([str(tmp_path / "matmul")], env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert reason in done.stderr


def test_wrong_kernels_are_found(tmp_path: Path) -> None:
    files = product("opencl")
    files["matmul_launch.c"] = files["matmul_launch.c"].replace("acc[i * 4 + j] +=", "acc[i * 4 + j] -=")
    build(write(files, tmp_path))
    done = run(tmp_path, "matmul", "Portable")
    assert done.returncode == 4
    assert done.stdout.startswith("matmul: WRONG, ")


def test_16_bit_arrays_and_integers(tmp_path: Path) -> None:
    module, program = features.scaled("opencl", modules.I32, 1)
    text = SCALED.replace("short", "int")
    files = folder(emit(module, program), with_source(program, text), "1: (de-)comp( 1 )")
    build(write(files, tmp_path))
    assert run(tmp_path, "scaled", "Portable", "--repeat", "0").stdout == "scaled: ok (worst error 0)\n"


def test_manifest() -> None:
    files = product("cuda")
    data = json.loads(files["manifest.json"])
    assert data["schema"] == "mdh.manifest/1"
    assert data["files"] == sorted(files)
    assert [p["kind"] for p in data["parameters"]] == ["size", "array", "array", "array"]
    (kernel,) = data["kernels"]
    assert (kernel["grid"], kernel["block"]) == ([1, 1, 1], [256, 1, 1])
    assert [a["bytes"] for a in kernel["arguments"]] == [64 * 64 * 4] * 3


def test_sizes_stay_out_of_the_preprocessor() -> None:
    lines = product("cuda")["reference.c"].splitlines()
    assert "#define N 64" in lines
    assert not any(line.startswith("#define n ") for line in lines)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("case", ["matmul", "ticket"])
def test_cuda_folder_builds(tmp_path: Path, case: str) -> None:
    files = product("cuda")
    if case == "ticket":
        module, program = features.ticket("cuda")
        files = folder(emit(module, program), with_source(program, TICKET), "", arch="sm_90")
    write(files, tmp_path)
    done = subprocess.run(
        ["make", "-s", "ARCH=sm_90"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stdout + done.stderr
