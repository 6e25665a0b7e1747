"""`manifest.json`: everything a caller in another language needs to launch the kernels."""

import json

from mdh.ir.program import Buffer, Program, Scalar
from mdh.release import release
from mdh.target.header import parameters
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText

SCHEMA = "mdh.manifest/1"


def manifest(text: KernelText, program: Program, function: str, files: tuple[str, ...]) -> str:
    """Deterministic JSON; the launch is in units of x, y, z, sizes are in bytes. function: the launcher."""
    data = {
        "schema": SCHEMA,
        "name": text.name,
        "function": function,
        "language": text.language,
        "machine": text.machine,
        "mdh": release(),
        "digest": text.digest,
        "options": list(text.options),
        "parameters": [_parameter(p, program) for p in parameters(program)],
        "kernels": [_kernel(k) for k in text.kernels],
        "workspaces": [
            {"name": w.name, "dtype": w.dtype.name, "bytes": w.bytes, "zero": w.zero} for w in text.workspaces
        ],
        "files": list(files),
    }
    return json.dumps(data, indent=2) + "\n"


def _parameter(p: Buffer | Scalar, program: Program) -> dict[str, object]:
    if isinstance(p, Scalar):
        kind = "size" if p.size is not None else "scalar"
        return {"name": p.name, "kind": kind, "dtype": p.dtype.name, "value": p.size}
    read = any(p.name in s.read for s in program.stages)
    written = any(p.name in s.written for s in program.stages)
    access = "update" if read and written else "write" if written else "read"
    return {"name": p.name, "kind": "array", "dtype": p.dtype.name, "shape": list(p.shape), "access": access}


def _kernel(k: EntryPoint) -> dict[str, object]:
    return {
        "name": k.name,
        "stage": k.stage,
        "grid": list(k.launch.grid),
        "block": list(k.launch.block),
        "cluster": list(k.launch.cluster),
        "shared_static": k.static_shared,
        "shared_dynamic": k.dynamic_shared,
        "early": k.launch.early,
        "arguments": [_argument(a) for a in k.args],
    }


def _argument(a: Arg) -> dict[str, object]:
    if isinstance(a, BufferArg):
        return {
            "name": a.name,
            "kind": "buffer",
            "dtype": a.dtype.name,
            "bytes": a.bytes,
            "const": a.readonly,
        }
    return {"name": a.name, "kind": "scalar", "dtype": a.dtype.name}
