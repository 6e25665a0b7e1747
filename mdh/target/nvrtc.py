"""NVRTC through ctypes: CUDA C++ text to a cubin and its resource report, without a GPU or a driver."""

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.target.kept import keep_refused
from mdh.target.text import KernelText

_BLAMES = re.compile(r"^(kernel\.cu\(\d+\): error|ptxas [^\n]*, line \d+; error|ptxas error)", re.MULTILINE)
"""Messages that the text is to blame for. `catastrophic error: out of memory` and `ptxas fatal` are not."""
_REMARK = re.compile(r"\(C75\d\d\)")
"""How ptxas numbers what it says of instructions for tensor cores and registers of warp groups."""
_PROBE = 'extern "C" __global__ void mdh_probe(float *x) { x[threadIdx.x] = 1.0f; }\n'
_ROOM = "it needs memory, open files, and its libnvrtc-builtins beside it"


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What ptxas says of one kernel; spill_bytes are its spill stores and loads together."""

    registers: int
    stack: int
    spill_bytes: int
    shared: int


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture; log: NVRTC's and ptxas's messages; kernels by entry name."""

    image: bytes
    arch: str
    log: str
    kernels: Mapping[str, KernelResources]

    @property
    def registers(self) -> int:
        return max((k.registers for k in self.kernels.values()), default=0)

    @property
    def spill_bytes(self) -> int:
        return sum(k.spill_bytes for k in self.kernels.values())

    @property
    def stack(self) -> int:
        return max((k.stack for k in self.kernels.values()), default=0)

    @property
    def shared(self) -> int:
        """Static bytes; dynamic ones are the launch's."""
        return max((k.shared for k in self.kernels.values()), default=0)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Remarks that slow a kernel down, such as `ptxas info : (C7510) … serialized`, are among them."""
        return tuple(line for line in self.log.splitlines() if "warning" in line or _REMARK.search(line))


def compile_cubin(text: KernelText, arch: str) -> Cubin:
    """Compile for `arch` (`sm_90a`).

    Raises D120 where NVRTC is missing or fails on every text, D121 where it refuses this one (the message
    names the file that keeps it), D122 where this NVRTC does not know the architecture.
    """
    lib = _library()
    if arch not in architectures():
        known = ", ".join(architectures())
        raise fail("D122", f"NVRTC does not compile for {arch}", help=f"it knows {known}")
    status, log, image = _compiled(lib, text.source, arch, text.options)
    if not status:
        return Cubin(image, arch, log, resources(log))
    raise _failed(lib, text, arch, log)


def compile_ptx(text: KernelText, arch: str) -> str:
    """The PTX that `compile_cubin` makes machine code of. Raises as it does."""
    made = compile_cubin(text, arch)
    lib = _library()
    status, log, ptx = _compiled(lib, text.source, made.arch, text.options, "PTX")
    if status:
        raise _failed(lib, text, arch, log)
    return ptx.decode(errors="replace").rstrip("\0")


def _failed(lib: ctypes.CDLL, text: KernelText, arch: str, log: str) -> Failed:
    """Why a text was not compiled."""
    if _BLAMES.search(log):
        return _refused(text, arch, log, "refuses")
    # what does not name a line of the text may be the machine's doing, which shows on any text
    failed, said, _ = _compiled(lib, _PROBE, arch, ())
    if failed:
        return fail("D120", f"NVRTC fails on every text: {_why(said)}", help=_ROOM)
    return _refused(text, arch, log, "fails on")


def _compiled(
    lib: ctypes.CDLL, source: str, arch: str, options: Sequence[str], what: str = "CUBIN"
) -> tuple[int, str, bytes]:
    """NVRTC's status (0: it worked), its messages and ptxas's, the cubin or the PTX. Raises Failed D120."""
    words = [f"--gpu-architecture={arch}", "--ptxas-options=-v", *options]
    words += [f"-I{folder}" for folder in _include_folders()]
    program = ctypes.c_void_p()
    _must(lib, lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        array = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
        status = lib.nvrtcCompileProgram(program, len(words), array)
        log = _fetched(lib, program, "ProgramLog").decode(errors="replace").replace("\0", "").strip()
        return status, log, b"" if status else _fetched(lib, program, what)
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def nvrtc_version() -> str:
    """`13.0`. Raises Failed D120."""
    lib = _library()
    major, minor = ctypes.c_int(), ctypes.c_int()
    _must(lib, lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def architectures() -> tuple[str, ...]:
    """Architectures this NVRTC compiles for; `a` variants where the plain one is of Hopper or later."""
    lib = _library()
    count = ctypes.c_int()
    _must(lib, lib.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    found = (ctypes.c_int * count.value)()
    _must(lib, lib.nvrtcGetSupportedArchs(found))
    return tuple(a for n in found for a in ((f"sm_{n}", f"sm_{n}a") if n >= 90 else (f"sm_{n}",)))


def resources(log: str) -> dict[str, KernelResources]:
    """ptxas's report (`-v`), by kernel."""
    out = {}
    for part in re.split(r"Compiling entry function ", log)[1:]:
        name = re.match(r"'([^']+)'", part)
        if name is not None:
            spills = _number(r"(\d+) bytes spill stores", part) + _number(r"(\d+) bytes spill loads", part)
            out[name[1]] = KernelResources(
                registers=_number(r"Used (\d+) registers", part),
                stack=_number(r"(\d+) bytes stack frame", part),
                spill_bytes=spills,
                shared=_number(r"(\d+) bytes smem", part),
            )
    return out


def _refused(text: KernelText, arch: str, log: str, does: str) -> Failed:
    errors = [line for line in log.splitlines() if "error" in line] or [_why(log)]
    head = f"NVRTC {does} the kernel text of {text.name} for {arch}"
    return Failed(Diagnostic("D121", head, notes=(*errors[:5], keep_refused(text, log).note)))


def _why(log: str) -> str:
    """The first line that speaks of an error, else the first."""
    lines = log.splitlines()
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "it says nothing")


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


@cache
def _library() -> ctypes.CDLL:
    for path in _library_files():
        try:
            # some releases look for it in the system's folders alone, unless it is loaded
            for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so*")) if "/" in path else ():
                ctypes.CDLL(str(builtins))
            lib = ctypes.CDLL(path)
        except OSError:
            continue
        lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        return lib
    raise fail("D120", "NVRTC is not installed", help="install nvidia-cuda-nvrtc (and nvidia-cuda-runtime)")


def _library_files() -> Sequence[str]:
    found = [
        str(p) for root in _wheel_folders() for p in sorted(root.glob("*/lib/libnvrtc.so.*"), reverse=True)
    ]
    return [*found, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]


def _wheel_folders() -> tuple[Path, ...]:
    spec = find_spec("nvidia")
    roots = spec.submodule_search_locations if spec is not None else None
    return tuple(Path(r) for r in roots or ())


@cache
def _include_folders() -> tuple[str, ...]:
    """Where cuda_fp16.h lies: NVRTC searches nothing by itself."""
    roots = [h.parent for w in _wheel_folders() for h in sorted(w.glob("*/include/cuda_fp16.h"))]
    roots.append(Path("/usr/local/cuda/include"))
    kept = next((r for r in roots if (r / "cuda_fp16.h").exists()), None)
    return () if kept is None else (str(kept), str(kept / "cccl"))


def _fetched(lib: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _must(lib, lib[f"nvrtcGet{what}Size"](program, ctypes.byref(size)))
    out = ctypes.create_string_buffer(size.value)
    _must(lib, lib[f"nvrtcGet{what}"](program, out))
    return out.raw


def _must(lib: ctypes.CDLL, status: int) -> None:
    if status:
        raise fail("D120", f"NVRTC fails: {lib.nvrtcGetErrorString(status).decode()}")
