"""The CUDA launcher (C++), the device part of its driver, and how they are built."""

from collections.abc import Mapping, Sequence

from mdh.ir.copy_engine import TensorMap
from mdh.ir.program import Program
from mdh.target.cuda import STORAGE
from mdh.target.cuda_graph_launcher import launches_name, replaying
from mdh.target.driver import call_arguments, driver, size_checks
from mdh.target.driver_sizes import Sizes
from mdh.target.header import prototype
from mdh.target.host import HostNames, counted, in_loops
from mdh.target.names import fresh
from mdh.target.text import BufferArg, EntryPoint, KernelText, ScalarArg

DEVICE = r"""
static void *device[ARRAYS];

static void must(int error)
{
    if (error) {
        fprintf(stderr, "CUDA: %s\n", error < 0 ? "no kernel is for this size"
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

EARLY = r"""
/* Before the kernel in front has ended, which the launched one awaits itself; graphs hold it from 12.3 on. */
static cudaLaunchConfig_t early(dim3 grid, dim3 block, size_t shared, void *stream)
{
    static cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = {};
    int driver = 0;
    cudaDriverGetVersion(&driver);
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = driver >= 12030;
    return config;
}
"""


ENCODE = r"""
/* What the copy engine must know of an array. The driver's function comes through the runtime. size: of an
   element. shape, box: the fastest dimension first. */
template <int rank>
static cudaError_t encode(tensor_map *map, const void *array, CUtensorMapDataType type, int size,
                          const cuuint64_t (&shape)[rank], const cuuint32_t (&box)[rank],
                          CUtensorMapSwizzle swizzle)
{
    static decltype(&cuTensorMapEncodeTiled) function;
    const cuuint32_t steps[] = {1, 1, 1, 1, 1};
    cuuint64_t pitches[rank];
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
    cudaError_t error;
    if (!function) {
        void **entry = (void **)&function;
#if CUDART_VERSION >= 12050
        error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", entry, 12000,
                                                 cudaEnableDefault, &found);
#else
        error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", entry, cudaEnableDefault, &found);
#endif
        if (error)
            return error;
        if (found != cudaDriverEntryPointSuccess)
            return cudaErrorInsufficientDriver;
    }
    if ((uintptr_t)array % 16)
        return cudaErrorMisalignedAddress;
    for (int d = 0; d < rank; ++d)
        pitches[d] = d ? pitches[d - 1] * shape[d] : shape[d] * size;
    return function((CUtensorMap *)map, type, rank, (void *)array, shape, pitches, box, steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) ? cudaErrorInvalidValue : cudaSuccess;
}
"""
ENCODE_STEPS = ENCODE.replace("    const cuuint32_t steps[] = {1, 1, 1, 1, 1};\n", "").replace(
    "CUtensorMapSwizzle swizzle)", "CUtensorMapSwizzle swizzle, const cuuint32_t (&steps)[rank])"
)
"""The same where boxes leave out elements: steps from one to the next, along each dimension."""
MAP_TYPES = {
    "f8e4m3": "UINT8", "f8e5m2": "UINT8",
    "u8": "UINT8", "i8": "UINT8", "u16": "UINT16", "i16": "UINT16", "u32": "UINT32", "i32": "INT32",
    "u64": "UINT64", "i64": "INT64", "f16": "FLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16",
    "tf32": "TFLOAT32",
}  # fmt: skip
"""As CUtensorMapDataType calls them."""


def _map_lines(a: TensorMap, name: str, host: HostNames, *, stepped: bool) -> list[str]:
    """The map of an array, whose dimensions the driver takes the fastest first. name: in the launcher.
    stepped: it is told the steps of boxes."""
    each = (a.shape, a.passed, a.steps or (1,) * len(a.box))
    shape, box, steps = (", ".join(map(str, reversed(x))) for x in each)
    swizzle = f"CU_TENSOR_MAP_SWIZZLE_{f'{a.swizzle}B' if a.swizzle else 'NONE'}"
    kind = f"CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[a.dtype.name]}"
    return [
        f"    tensor_map {name};",
        f"    if ((error = encode(&{name}, {host[a.buffer]}, {kind}, {a.dtype.bytes},",
        f"                        {{{shape}}}, {{{box}}}, {swizzle}{f', {{{steps}}}' if stepped else ''})))",
        "        return error;",
    ]


def _map_names(text: KernelText, host: HostNames) -> dict[tuple[str, str], str]:
    """By kernel and argument, the name of a tensor map in the launcher. Two kernels may use one name for
    different maps; the launcher needs two."""
    used = {host.function, *host.names.values(), *(k.name for k in text.kernels)}
    out: dict[tuple[str, str], str] = {}
    for k in text.kernels:
        for a in k.args:
            if isinstance(a, TensorMap):
                out[k.name, a.name] = fresh(a.name, used, "host")
                used.add(out[k.name, a.name])
    return out


def cuda_launcher(text: KernelText, program: Program, host: HostNames) -> str:
    """`NAME_launch.cu`: includes the kernels and launches them in order on the caller's stream."""
    early = EARLY if any(k.launch.early for k in text.kernels) else ""
    said = [a for k in text.kernels for a in k.args if isinstance(a, TensorMap)]
    maps = bool(said)
    stepped = any(a.steps for a in said)
    encode = ENCODE_STEPS if stepped else ENCODE
    fails = any(k.dynamic_shared or k.launch.early for k in text.kernels) or text.workspaces or maps
    begin = ["    cudaError_t error;"] if fails else []
    begin += ["    cudaLaunchConfig_t config;"] if early else []
    setup = [line for w in text.workspaces for line in _workspace(host[w.name], w.bytes, zero=w.zero)]
    named = _map_names(text, host)
    clear = [line for w in text.workspaces if w.zero for line in _cleared(host[w.name], w.bytes)]
    launches = in_loops(text, host, lambda k: _launch(text.kernels[k], host, named, stepped=stepped), clear)
    body = "\n".join([*begin, *size_checks(program, host), *setup, *launches])
    head, after, replay = prototype(text, program, host), "", ""
    if text.replayed:
        own = launches_name(text, host)
        head = f"static {head.replace(host.function, own, 1)}"
        replay, after = replaying(text, program, host)
    include = "#include <cuda.h>\n" if maps else ""
    return f"""#include <stdint.h>
{include}#include <cuda_runtime.h>

#include "{host.function}.cu"
#include "{host.function}.h"
{early}{encode if maps else ""}{replay}
{head}
{{
{body}
    return cudaGetLastError();
}}
{after and f"{chr(10)}{after}"}"""


def _workspace(name: str, n: int, *, zero: bool) -> list[str]:
    """Workspaces live as long as the process; calls on one device share them."""
    out = [
        f"    static void *{name};",
        f"    if (!{name} && (error = cudaMalloc(&{name}, {n})))",
        "        return error;",
    ]
    return [*out, *_cleared(name, n)] if zero else out


def _cleared(name: str, n: int) -> list[str]:
    return [
        f"    if ((error = cudaMemsetAsync({name}, 0, {n}, (cudaStream_t)stream)))",
        "        return error;",
    ]


def _launch(
    k: EntryPoint, host: HostNames, named: Mapping[tuple[str, str], str], *, stepped: bool
) -> list[str]:
    """named: what the launcher calls each kernel's tensor maps. stepped: as of `_map_lines`."""
    grid, block = (", ".join(map(str, d)) for d in (k.launch.grid, k.launch.block))
    if k.launch.counts:
        grid = ", ".join(counted(k.launch, host))
    maps = {a: named[k.name, a.name] for a in k.args if isinstance(a, TensorMap)}
    args = ", ".join(maps[a] if isinstance(a, TensorMap) else _argument(a, host) for a in k.args)
    out = [line for a, name in maps.items() for line in _map_lines(a, name, host, stepped=stepped)]
    if k.dynamic_shared:
        out += [
            f"    if ((error = cudaFuncSetAttribute({k.name}, cudaFuncAttributeMaxDynamicSharedMemorySize,",
            f"                                      {k.dynamic_shared})))",
            "        return error;",
        ]
    if k.launch.early:
        return [
            *out,
            f"    config = early(dim3({grid}), dim3({block}), {k.dynamic_shared}, stream);",
            f"    if ((error = cudaLaunchKernelEx(&config, {k.name},",
            f"                                    {args})))",
            "        return error;",
        ]
    config = f"dim3({grid}), dim3({block}), {k.dynamic_shared}, (cudaStream_t)stream"
    return [*out, f"    {k.name}<<<{config}>>>(", f"        {args});"]


def _argument(a: BufferArg | ScalarArg, host: HostNames) -> str:
    if isinstance(a, ScalarArg):
        return host[a.name]
    const = "const " if a.readonly else ""
    return f"({const}{STORAGE[a.dtype.name]} *){host[a.name]}"


def cuda_driver(text: KernelText, program: Program, host: HostNames, at: Sizes = None) -> str:
    """main.c. at: as of `driver`."""
    args = ", ".join([*call_arguments(program, "device"), "0"])
    launch = f"\nstatic int launch(void)\n{{\n    return {host.function}({args});\n}}\n"
    before = f'#include <cuda_runtime_api.h>\n\n#include "{host.function}.h"\n'
    return driver(program, host, before, DEVICE + launch + TIMED, text.numerics, at)


def cuda_makefile(text: KernelText, name: str, arch: str, versions: Sequence[str] = ()) -> str:
    """The Makefile. versions: as of `c_makefile`; a launcher that chooses among them is C. An architecture
    whose name ends in `a` (`sm_90a`) takes `-gencode`: for `-arch=sm_90a` CUDA 13 compiles for `sm_90` as
    well, which lacks the instructions."""
    fmad = " -fmad=false" if "-fmad=false" in text.options else ""
    own = "-gencode arch=$(ARCH:sm_%=compute_%),code=$(ARCH)"
    said = own if arch.endswith("a") else "-arch=$(ARCH)"
    own_launcher = f"{name}_launch.c" if versions else f"{name}_launch.cu"
    launchers = " ".join([own_launcher, *(f"{one}_launch.cu" for one in versions)])
    kernels = " ".join(f"{one}.cu" for one in versions or (name,))
    headers = " ".join(f"{one}.h" for one in (name, *versions))
    return f"""NVCC ?= nvcc
ARCH ?= {arch}

{name}: main.c reference.c {launchers} {kernels} {headers}
\t$(NVCC) -O3 {said}{fmad} main.c reference.c {launchers} -o $@ -lm

.PHONY: clean
clean:
\trm -f {name}
"""
