"""The OpenCL launcher (C), the device part of its driver, and how they are built."""

from collections.abc import Mapping, Sequence

from mdh.ir.dtype import DType
from mdh.ir.program import Program
from mdh.target.driver import call_arguments, driver, size_checks
from mdh.target.driver_sizes import Sizes
from mdh.target.header import prototype, scalar_type
from mdh.target.host import HostNames, counted, in_loops
from mdh.target.text import BufferArg, EntryPoint, KernelText

DEVICE = r"""
static cl_command_queue queue;
static cl_context context;
static cl_mem device[ARRAYS];

static void must(int error)
{
    if (error) {
        fprintf(stderr, "OpenCL: error %d\n", error);
        exit(1);
    }
}

/* OPENCL_PLATFORM: part of a platform's name; absent, the first platform serves */
static void open_device(void)
{
    cl_platform_id platforms[16];
    cl_device_id chosen;
    cl_uint count = 0, p = 0;
    cl_int error;
    char title[256] = "";
    const char *wanted = getenv("OPENCL_PLATFORM");
    const char *wrong = mdh_opencl_open();
    if (wrong) {
        fprintf(stderr, "no OpenCL library: %s\n", wrong);
        fprintf(stderr, "set OPENCL_LIBRARY to the file of a loader or driver; `mdh doctor` names one\n");
        exit(1);
    }
    error = mdh_clGetPlatformIDs(16, platforms, &count);
    if (error == -1001) { /* a loader that finds no driver */
        fprintf(stderr, "no OpenCL driver: set OPENCL_LIBRARY to the file of one; `mdh doctor` names one\n");
        exit(1);
    }
    must(error);
    for (p = 0; p < count && p < 16; ++p) {
        must(mdh_clGetPlatformInfo(platforms[p], 0x0902, sizeof title, title, NULL));
        if (!wanted || strstr(title, wanted))
            break;
    }
    if (p == count) {
        fprintf(stderr, "no OpenCL platform%s%s\n", wanted ? " called " : "", wanted ? wanted : "");
        exit(1);
    }
    must(mdh_clGetDeviceIDs(platforms[p], 0xffffffffu, 1, &chosen, NULL));
    context = mdh_clCreateContext(NULL, 1, &chosen, NULL, NULL, &error);
    must(error);
    queue = mdh_clCreateCommandQueue(context, chosen, 0, &error);
    must(error);
}

static void upload(int a)
{
    cl_int error;
    device[a] = mdh_clCreateBuffer(context, 1, bytes(a), NULL, &error);
    must(error);
    must(mdh_clEnqueueWriteBuffer(queue, device[a], 1, 0, bytes(a), host[a], 0, NULL, NULL));
}

static void download(int a)
{
    must(mdh_clEnqueueReadBuffer(queue, device[a], 1, 0, bytes(a), result[a], 0, NULL, NULL));
}

static void finish(void)
{
    must(mdh_clFinish(queue));
}
"""

TIMED = r"""
static double timed_launch(void)
{
    const double begin = now();
    must(launch());
    finish();
    return now() - begin;
}
"""

BUILD = r"""
/* Builds the kernels for the queue's device, once a process. */
static cl_int build(cl_command_queue queue)
{
    const char *text = source;
    cl_int error;
    if ((error = mdh_clGetCommandQueueInfo(queue, 0x1090, sizeof context, &context, NULL)))
        return error;
    cl_device_id device;
    if ((error = mdh_clGetCommandQueueInfo(queue, 0x1091, sizeof device, &device, NULL)))
        return error;
    cl_program program = mdh_clCreateProgramWithSource(context, 1, &text, NULL, &error);
    if (error)
        return error;
    if ((error = mdh_clBuildProgram(program, 1, &device, options, NULL, NULL))) {
        static char log[16384];
        if (!mdh_clGetProgramBuildInfo(program, device, 0x1183, sizeof log, log, NULL))
            fprintf(stderr, "%s\n", log);
        return error;
    }
    for (int i = 0; i < KERNELS; ++i) {
        kernels[i] = mdh_clCreateKernel(program, names[i], &error);
        if (error)
            return error;
    }
    return 0;
}
"""


def opencl_launcher(text: KernelText, program: Program, host: HostNames) -> str:
    """`NAME_launch.c`: the kernels as a string, built at the first call and put on the caller's queue."""
    quoted = "\n".join(f'    "{_quoted(line)}\\n"' for line in text.source.splitlines())
    names = ", ".join(f'"{k.name}"' for k in text.kernels)
    spaces = "".join(f"static cl_mem {host[w.name]};\n" for w in text.workspaces)
    setup = [line for w in text.workspaces for line in _workspace(host[w.name], w.bytes, zero=w.zero)]
    opens = {s.name: s.dtype for s in program.scalars if s.open is not None}
    clear = [line for w in text.workspaces if w.zero for line in _cleared(host[w.name], w.bytes)]
    launches = in_loops(text, host, lambda i: _launch(i, text.kernels[i], host, opens), clear)
    return f"""#include <stdio.h>

#include "{host.function}.h"

static const char source[] =
{quoted};
static const char options[] = "{" ".join(text.options)}";
static const char *const names[] = {{ {names} }};
enum {{ KERNELS = sizeof names / sizeof names[0] }};
static cl_kernel kernels[KERNELS];
static cl_context context;
{spaces}{BUILD}
{prototype(text, program, host)}
{{
    cl_int error;
{_lines(size_checks(program, host))}    if (!kernels[KERNELS - 1] && (error = build(queue)))
        return error;
{_lines(setup)}{_lines(launches)}    return 0;
}}
"""


def _lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _quoted(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"')


def _workspace(name: str, n: int, *, zero: bool) -> list[str]:
    create = f"{name} = mdh_clCreateBuffer(context, 1, {n}, NULL, &error), error"
    out = [f"    if (!{name} && ({create}))", "        return error;"]
    return [*out, *_cleared(name, n)] if zero else out


def _cleared(name: str, n: int) -> list[str]:
    fill = f'mdh_clEnqueueFillBuffer(queue, {name}, "", 1, 0, {n}, 0, NULL, NULL)'
    return [f"    if ((error = {fill}))", "        return error;"]


def _launch(number: int, k: EntryPoint, host: HostNames, opens: Mapping[str, DType]) -> list[str]:
    """opens: the types of open sizes in the C; kernels take `int`."""
    out = []
    for i, a in enumerate(k.args):
        if isinstance(a, BufferArg):
            value = host[a.name]
            size = "sizeof(cl_mem)"
        elif a.name in opens and opens[a.name] != a.dtype:
            value, size = f"given_{number}_{i}", f"sizeof({scalar_type(a.dtype)})"
            out.append(f"    const {scalar_type(a.dtype)} {value} = ({scalar_type(a.dtype)}){host[a.name]};")
        else:
            value, size = host[a.name], f"sizeof({scalar_type(a.dtype)})"
        out.append(f"    if ((error = mdh_clSetKernelArg(kernels[{number}], {i}, {size}, &{value})))")
        out.append("        return error;")
    whole = [g * b for g, b in zip(k.launch.grid, k.launch.block, strict=True)]
    grid, block = (", ".join(map(str, d)) for d in (whole, k.launch.block))
    if k.launch.counts:
        each = zip(counted(k.launch, host), k.launch.block, strict=True)
        grid = ", ".join(f"({g}) * {b}" if b > 1 else g for g, b in each)
    return [
        *out,
        f"    const size_t grid_{number}[] = {{ {grid} }}, block_{number}[] = {{ {block} }};",
        f"    if ((error = mdh_clEnqueueNDRangeKernel(queue, kernels[{number}], 3, NULL, grid_{number},",
        f"                                            block_{number}, 0, NULL, NULL)))",
        "        return error;",
    ]


def opencl_driver(text: KernelText, program: Program, host: HostNames, at: Sizes = None) -> str:
    """main.c. at: as of `driver`."""
    args = ", ".join(["queue", *call_arguments(program, "device")])
    launch = f"\nstatic int launch(void)\n{{\n    return {host.function}({args});\n}}\n"
    return driver(program, host, f'\n#include "{host.function}.h"\n', DEVICE + launch + TIMED, at=at)


def opencl_makefile(name: str, versions: Sequence[str] = ()) -> str:
    """versions: as of `c_makefile`."""
    launchers = " ".join(f"{one}_launch.c" for one in (name, *versions))
    headers = " ".join(f"{one}.h" for one in (name, *versions))
    return f"""CC ?= cc
# with -O2 GCC before 11.5, 12.4 and 13.2 gets some sums of the reference wrong
CFLAGS ?= -O1

# OPENCL_LIBRARY=FILE OPENCL_PLATFORM=NAME ./{name}
# FILE: libOpenCL.so.1 (as without it), or a driver such as PoCL's; `mdh doctor` names the one of mdh
{name}: main.c reference.c {launchers} opencl.c {headers} opencl.h
\t$(CC) $(CFLAGS) main.c reference.c {launchers} opencl.c -o $@ -ldl -lm

.PHONY: clean
clean:
\trm -f {name}
"""
