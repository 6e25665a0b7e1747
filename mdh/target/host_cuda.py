"""The CUDA launcher (C++), the device part of its driver, and how they are built."""

from mdh.ir.program import Program, Scalar
from mdh.target.cuda import STORAGE
from mdh.target.driver import call_arguments, driver
from mdh.target.header import host_name, parameters, prototype
from mdh.target.text import BufferArg, EntryPoint, KernelText

DEVICE = r"""
static void *device[ARRAYS];

static void must(int error)
{
    if (error) {
        fprintf(stderr, "CUDA: %s\n", error < 0 ? "a size differs from the one compiled for"
                                                : cudaGetErrorString((cudaError_t)error));
        exit(1);
    }
}

static void open_device(void)
{
    must(cudaSetDevice(0));
}

static void upload(int a)
{
    must(cudaMalloc(&device[a], bytes(a)));
    must(cudaMemcpy(device[a], host[a], bytes(a), cudaMemcpyHostToDevice));
}

static void download(int a)
{
    must(cudaMemcpy(result[a], device[a], bytes(a), cudaMemcpyDeviceToHost));
}

static void finish(void)
{
    must(cudaDeviceSynchronize());
}
"""

TIMED = r"""
static double timed_launch(void)
{
    cudaEvent_t begin, end;
    float ms;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    must(cudaEventRecord(begin, 0));
    must(launch());
    must(cudaEventRecord(end, 0));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&ms, begin, end));
    must(cudaEventDestroy(begin));
    must(cudaEventDestroy(end));
    return 1e-3 * ms;
}
"""


def cuda_launcher(text: KernelText, program: Program) -> str:
    """`NAME_launch.cu`: includes the kernels and launches them in order on the caller's stream."""
    fails = any(k.dynamic_shared for k in text.kernels) or text.workspaces
    begin = ["    cudaError_t error;"] if fails else []
    checks = [
        f"    if ({host_name(p.name)} != {p.size})\n        return -1;"
        for p in parameters(program)
        if isinstance(p, Scalar) and p.size is not None
    ]
    setup = [line for w in text.workspaces for line in _workspace(w.name, w.bytes, zero=w.zero)]
    launches = [line for k in text.kernels for line in _launch(k, text, program)]
    body = "\n".join([*begin, *checks, *setup, *launches])
    return f"""#include <stdint.h>
#include <cuda_runtime.h>

#include "{text.name}.cu"
#include "{text.name}.h"

{prototype(text, program)}
{{
{body}
    return cudaGetLastError();
}}
"""


def _workspace(name: str, n: int, *, zero: bool) -> list[str]:
    """Workspaces live as long as the process; calls on one device share them."""
    out = [
        f"    static void *{name}_space;",
        f"    if (!{name}_space && (error = cudaMalloc(&{name}_space, {n})))",
        "        return error;",
    ]
    if zero:
        out += [
            f"    if ((error = cudaMemsetAsync({name}_space, 0, {n}, (cudaStream_t)stream)))",
            "        return error;",
        ]
    return out


def _launch(k: EntryPoint, text: KernelText, program: Program) -> list[str]:
    grid, block = (", ".join(map(str, d)) for d in (k.launch.grid, k.launch.block))
    args = ", ".join(_argument(a, program) if isinstance(a, BufferArg) else host_name(a.name) for a in k.args)
    out = []
    if k.dynamic_shared:
        out += [
            f"    if ((error = cudaFuncSetAttribute({k.name}, cudaFuncAttributeMaxDynamicSharedMemorySize,",
            f"                                      {k.dynamic_shared})))",
            "        return error;",
        ]
    config = f"dim3({grid}), dim3({block}), {k.dynamic_shared}, (cudaStream_t)stream"
    return [*out, f"    {k.name}<<<{config}>>>(", f"        {args});"]


def _argument(a: BufferArg, program: Program) -> str:
    name = host_name(a.name) if a.name in program.params else f"{a.name}_space"
    const = "const " if a.readonly else ""
    return f"({const}{STORAGE[a.dtype.name]} *){name}"


def cuda_driver(text: KernelText, program: Program) -> str:
    args = ", ".join([*call_arguments(program, "device"), "0"])
    launch = f"\nstatic int launch(void)\n{{\n    return {text.name}({args});\n}}\n"
    before = f'#include <cuda_runtime_api.h>\n\n#include "{text.name}.h"\n'
    return driver(text.name, program, before, DEVICE + launch + TIMED)


def cuda_makefile(text: KernelText, arch: str) -> str:
    name = text.name
    fmad = " -fmad=false" if "-fmad=false" in text.options else ""
    return f"""NVCC ?= nvcc
ARCH ?= {arch}

{name}: main.c reference.c {name}_launch.cu {name}.cu {name}.h
\t$(NVCC) -O3 -arch=$(ARCH){fmad} main.c reference.c {name}_launch.cu -o $@ -lm

clean:
\trm -f {name}
"""
