"""The manifest of compiled kernels (`mdh.manifest/1`, docs/formats.md): the same bytes for the same input."""

from importlib.metadata import version
from typing import Any

from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText, ScalarArg, Scratch

SCHEMA = "mdh.manifest/1"


def manifest(plan: Plan, text: KernelText, files: dict[str, str]) -> dict[str, Any]:
    """All that a host needs to launch the kernels. files: role -> name in the folder."""
    program = plan.program
    return {
        "schema": SCHEMA,
        "mdh": version("mdh"),
        "program": program.name,
        "target": text.language,
        "machine": plan.machine.name,
        "arch": plan.machine.arch,
        "files": files,
        "sha256": text.digest,
        "build_options": list(text.options),
        "parameters": [_parameter(program, name) for name in program.params],
        "kernels": [_kernel(k) for k in text.kernels],
        "workspaces": [_workspace(w) for w in text.workspaces],
        "stages": [s.stage.name for s in plan.stages],
        "deterministic": plan.deterministic,
        "strict_fp": program.strict_fp,
        "schedule": plan.text,
    }


def _parameter(program: Program, name: str) -> dict[str, Any]:
    """access: `in`, `out` or `inout` for arrays; `value`: the size that the kernels were made for."""
    if name in program.scalar_of:
        scalar = program.scalar_of[name]
        return {"name": name, "kind": "scalar", "dtype": scalar.dtype.name, "value": scalar.size}
    buffer = program.buffer_of[name]
    size = buffer.dtype.bytes
    for n in buffer.shape:
        size *= n
    written = any(name in s.written for s in program.stages)
    first = next((s for s in program.stages if name in s.written or name in s.read), None)
    read = first is not None and name in first.read
    access = "inout" if written and read else "out" if written else "in"
    return {
        "name": name, "kind": "array", "dtype": buffer.dtype.name, "shape": list(buffer.shape), "bytes": size,
        "access": access,
    }  # fmt: skip


def _kernel(k: EntryPoint) -> dict[str, Any]:
    return {
        "name": k.name,
        "stage": k.stage,
        "grid": list(k.launch.grid),
        "block": list(k.launch.block),
        "cluster": list(k.launch.cluster),
        "static_shared": k.static_shared,
        "dynamic_shared": k.dynamic_shared,
        "arguments": [_argument(a) for a in k.args],
    }


def _argument(a: Arg) -> dict[str, Any]:
    match a:
        case BufferArg(name, dtype, shape, size, readonly):
            kind = {"name": name, "kind": "buffer", "dtype": dtype.name, "shape": list(shape)}
            return {**kind, "bytes": size, "readonly": readonly}
        case ScalarArg(name, dtype):
            return {"name": name, "kind": "scalar", "dtype": dtype.name}


def _workspace(w: Scratch) -> dict[str, Any]:
    return {"name": w.name, "dtype": w.dtype.name, "bytes": w.bytes, "zero": w.zero}
