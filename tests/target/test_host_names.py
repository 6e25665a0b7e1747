"""C functions and parameters called like words of C, of device languages, or of the folder's own files."""

import json
import re
import shutil
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
from mdh.target.folder import folder
from mdh.target.host import function_name
from mdh.target.names import is_free, is_free_function
from tests.target.test_folder import build, run, write

SCALARS = [
    "half", "global", "local", "kernel", "min", "max", "float4", "threadIdx", "blockIdx", "uint",
    "size_t", "event_t", "NULL", "INFINITY", "NAN", "M_PI", "main", "cos", "image2d_t", "dim3", "class",
    "template", "new", "error", "queue", "stream", "kernels", "context", "build", "device", "source",
    "names", "cl_mem", "cuda_x", "bool", "true", "atomic_add", "get_global_id", "barrier", "f16_to_f32",
    "cp_async_wait", "swizzle_32_4", "grid_0", "EOF", "stdout", "linux", "unix", "INT_MAX",
    "CL_SUCCESS", "mdh_clFinish", "cudaMalloc", "f_kernel", "f", "private", "constant", "as_int",
    "convert_int", "vload4", "int32_t", "uint8_t",
]  # fmt: skip
TEXT = (
    "void NAME({scalars}, const float half_[70], float __global[70], const float this[5000], float r[1])\n"
    "{{\n    for (int i = 0; i < 70; i++)\n        __global[i] = half_[i] * ({total});\n"
    "    for (int i = 0; i < 5000; i++)\n        r[0] += this[i];\n}}\n"
).format(scalars=", ".join(f"float {s}" for s in SCALARS), total=" + ".join(SCALARS))
FUNCTIONS = [
    "f", "main", "cos", "kernel", "opencl", "clean", "fill", "read", "dot", "half", "index", "launch",
    "Makefile", "class", "source", "cuda_f", "f_kernel", "value", "printf", "timed_launch", "NAN",
    "F32", "threadIdx", "y1", "_start",
]  # fmt: skip


def compiled(text: str, machine: str, target: str) -> dict[str, str]:
    program = read_program(Source("given.c", text))
    model = load_machine(machine)
    default = default_schedule(program, model, target)
    module = lower(check(program, default, model, target, default=default))
    return folder(emit(module, program), program, "", arch="sm_90")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_any_name_build_and_run(name: str, tmp_path: Path) -> None:
    loops = "for (int i = 0; i < 64; i++) part[i] = 2 * X[i];"
    files = compiled(f"void {name}(const float X[64], float part[64]) {{ {loops} }}", "generic-cpu", "opencl")
    manifest = json.loads(files["manifest.json"])
    function = manifest["function"]
    assert manifest["name"] == name and f"{function}.h" in files
    build(write(files, tmp_path))
    done = run(tmp_path, function, "Portable", "--repeat", "0")
    assert done.stdout == f"{name}: ok (worst error 0)\n", done.stderr


def test_parameters_of_any_name_build_and_run(tmp_path: Path) -> None:
    files = compiled(TEXT.replace("NAME", "f"), "generic-cpu", "opencl")
    build(write(files, tmp_path))
    done = run(tmp_path, "f", "Portable", "--repeat", "0")
    assert done.stdout.startswith("f: ok"), done.stderr
    names = [p["name"] for p in json.loads(files["manifest.json"])["parameters"]]
    assert names == [*SCALARS, "half_", "__global", "this", "r"]
    assert "   v___global (__global in the C): f32 [70]" in files["f.h"]


def test_header_is_a_cxx_header(tmp_path: Path) -> None:
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    write(compiled(TEXT.replace("NAME", "f"), "generic-cpu", "opencl"), tmp_path)
    (tmp_path / "use.cc").write_text('#include "f.h"\n')
    subprocess.run(["c++", "-Wall", "-Werror", "-fsyntax-only", "use.cc"], cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("name", ["f", "main", "threadIdx"])
def test_cuda_folder_of_awkward_names_builds(name: str, tmp_path: Path) -> None:
    write(compiled(TEXT.replace("NAME", name), "h200", "cuda"), tmp_path)
    subprocess.run(["make", "-s", "ARCH=sm_90"], cwd=tmp_path, capture_output=True, check=True)


def test_macros_of_the_headers_are_known() -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    headers = "".join(
        f"#include <{h}.h>\n" for h in ("stdio", "stdint", "stddef", "stdlib", "string", "math", "time")
    )
    made = subprocess.run(
        ["cc", "-dM", "-E", "-x", "c", "-"], input=headers, capture_output=True, text=True, check=True
    ).stdout
    constants = {m[1] for m in re.finditer(r"^#define ([A-Za-z]\w*) ", made, re.M)}
    assert len(constants) > 50
    assert [n for n in sorted(constants) if is_free(n, "host")] == []


def test_what_the_files_define_is_known() -> None:
    """Names at file scope of the driver and the launcher."""
    for machine, target in (("generic-cpu", "opencl"), ("h200", "cuda")):
        files = compiled(TEXT.replace("NAME", "f"), machine, target)
        text = "".join(files[n] for n in files if n == "main.c" or n.startswith("f_launch"))
        text = re.sub(r'"(\\.|[^"\\])*"', '""', re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        found = re.findall(r"^static [^;={(]*?\**\b(\w+)(?:\[|\(|;| =|,)", text, re.M)
        assert {"must", "fill", "device"} <= set(found)
        mine = {n for n in found if not n.endswith("_space")}
        assert [n for n in sorted(mine) if is_free_function(n)] == []


def test_ordinary_names_stay() -> None:
    for name in (
        "matmul",
        "dot",
        "transpose",
        "step",
        "softmax",
        "mix",
        "distance",
        "local",
        "a",
        "i",
        "x",
        "n",
    ):
        assert function_name(name) == name
