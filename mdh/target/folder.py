"""What `mdh compile` leaves: a folder that builds and runs without mdh."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from mdh.frontend.constant_arrays import split_constants
from mdh.frontend.read import is_c, language
from mdh.include import HEADER, header_text
from mdh.ir.affine import to_expr
from mdh.ir.copy_engine import TensorMap
from mdh.ir.expr import Const
from mdh.ir.expression_text import expression_text
from mdh.ir.kernel import Launch
from mdh.ir.program import Buffer, Program, Scalar
from mdh.ir.syntax_text import function_text
from mdh.release import release
from mdh.target.driver import needs_header, reference_types
from mdh.target.header import header, parameters
from mdh.target.host import host_names
from mdh.target.host_c import c_driver, c_launcher, c_makefile
from mdh.target.host_cuda import cuda_driver, cuda_launcher, cuda_makefile
from mdh.target.host_opencl import opencl_driver, opencl_launcher, opencl_makefile
from mdh.target.opencl_loader import loader_header, loader_source
from mdh.target.reference_constants import through_constants
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText
from mdh.target.words import COMPILER_WORDS

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
        **({"libraries": list(text.libraries)} if text.libraries else {}),
        "parameters": parameters_json(program),
        **kernels_json(text),
        "files": list(files),
    }
    return json.dumps(data, indent=2) + "\n"


def parameters_json(program: Program) -> list[dict[str, object]]:
    return [_parameter(p, program) for p in parameters(program)]


def kernels_json(text: KernelText) -> dict[str, object]:
    """What a host program must know to launch the kernels of a text."""
    spaces = [
        {"name": w.name, "dtype": w.dtype.name, "bytes": w.bytes, "zero": w.zero} for w in text.workspaces
    ]
    loops = [
        {"counter": x.var, "turns": x.trips, "first": x.first, "last": x.last}
        | ({"where": [f"{expression_text(to_expr(f))} >= 0" for f in x.where]} if x.where else {})
        | ({"launch": str(x.launch)} if x.launch else {})
        for x in text.loops
    ]
    return {
        "kernels": [_kernel(k) for k in text.kernels],
        "workspaces": spaces,
        **({"loops": loops} if loops else {}),
    }


def _parameter(p: Buffer | Scalar, program: Program) -> dict[str, object]:
    if isinstance(p, Scalar):
        kind = "size" if p.size is not None else "scalar"
        if p.open is not None:
            span = {"least": p.open.least, "most": p.open.most, "multiple": p.open.multiple}
            return {"name": p.name, "kind": "open_size", "dtype": p.dtype.name, "range": span}
        return {"name": p.name, "kind": kind, "dtype": p.dtype.name, "value": p.size}
    read = any(p.name in s.read for s in program.stages)
    written = any(p.name in s.written for s in program.stages)
    access = "update" if read and written else "write" if written else "read"
    each = zip(p.shape, p.open or (None,) * len(p.shape), strict=True)
    shape = [n if o is None else str(o) for n, o in each]
    return {"name": p.name, "kind": "array", "dtype": p.dtype.name, "shape": shape, "access": access}


def _kernel(k: EntryPoint) -> dict[str, object]:
    return {
        "name": k.name,
        "stage": k.stage,
        "grid": _grid(k.launch),
        "block": list(k.launch.block),
        "cluster": list(k.launch.cluster),
        "shared_static": k.static_shared,
        "shared_dynamic": k.dynamic_shared,
        "early": k.launch.early,
        "arguments": [_argument(a) for a in k.args],
    }


def _grid(launch: Launch) -> list[int | str]:
    """Blocks along x, y, z: numbers, or expressions of open sizes."""
    counts = [launch.count(a) for a in range(3)]
    return [int(e.value) if isinstance(e, Const) else expression_text(e) for e in counts]


def _argument(a: Arg) -> dict[str, object]:
    if isinstance(a, BufferArg):
        return {
            "name": a.name,
            "kind": "buffer",
            "dtype": a.dtype.name,
            "bytes": a.bytes,
            "const": a.readonly,
        }
    if isinstance(a, TensorMap):
        return {
            "name": a.name,
            "kind": "tensor_map",
            "array": a.buffer,
            "dtype": a.dtype.name,
            "shape": list(a.shape),
            "box": list(a.box),
            **({"steps": list(a.steps)} if a.steps else {}),
            "swizzle": a.swizzle,
            "written": a.written,
        }
    return {"name": a.name, "kind": "scalar", "dtype": a.dtype.name}


_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)")
_IFNDEF = re.compile(r"[ \t]*#[ \t]*ifndef[ \t]+([A-Za-z_]\w*)[ \t]*(?:/[/*].*)?")
_COMMENT = re.compile(r"/\*.*?\*/|//.*", re.S)


def guarded(text: str, bound: frozenset[str]) -> str:
    """`text` for a compiler that has the macros `bound` already, to which it gives no other values."""
    out: list[str] = []
    before = ""
    for line in _directives(text):
        found = _DEFINE.match(line)
        name = found[1] if found else ""
        # the value behind `#ifndef NAME` is left out anyway
        kept = _IFNDEF.fullmatch(before)
        if name in bound and not (kept and kept[1] == name):
            end = "" if line.endswith("\n") else "\n"
            out += [f"#ifndef {name}\n", line + end, "#endif\n"]
        else:
            out.append(line)
        if line.strip():
            before = line.rstrip()
    return "".join(out)


def _directives(text: str) -> Iterator[str]:
    """Lines; one that ends in a backslash, or in a comment that goes on, has the next with it."""
    lines = iter(text.splitlines(keepends=True))
    for first in lines:
        line = first
        while _DEFINE.match(first) and (line.rstrip("\r\n").endswith("\\") or _open(line)):
            more = next(lines, None)
            if more is None:
                break
            line += more
        yield line


def _open(line: str) -> bool:
    return "/*" in _COMMENT.sub(" ", line)


HALF_TYPES = {
    "_Float16": "defined __FLT16_MAX__ "
    "&& (!defined __clang__ || __clang_major__ >= 15 || defined __aarch64__)",
    "__bf16": "defined __BFLT16_MAX__ || (defined __clang__ ? __clang_major__ >= 17 : "
    "__GNUC__ >= 13 && defined __SSE2__)",
}
"""Type → the preprocessor's condition that it is there, with its arithmetic (GCC 12 and Clang 15 for
`_Float16`, GCC 13 and Clang 17 for `__bf16`; earlier Clangs define the limits of what they lack)."""

_PASSED_OVER = re.compile(r"//(?:\\\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def half_types(text: str) -> tuple[str, ...]:
    """The types that compiling a C text takes, comments and strings aside."""
    code = _PASSED_OVER.sub(" ", text)
    return tuple(t for t in HALF_TYPES if re.search(rf"\b{t}\b", code))


_INCLUDED = re.compile(rf"^([ \t]*#[ \t]*include[ \t]*)[<\"]{re.escape(HEADER)}[>\"]", re.MULTILINE)
"""Where a C text includes the header, which then lies beside it."""
_NAMEABLE = re.compile(r"[\w.+\-][\w .+\-]*\.c")
"""Names that an `#include` takes as they are, and every file system."""


def folder(
    text: KernelText,
    program: Program,
    plan_text: str,
    *,
    defines: Mapping[str, str | int] | None = None,
    arch: str = "native",
) -> dict[str, str]:
    """File names and contents: kernels, header, launcher, driver, reference, schedule, manifest, Makefile.

    plan_text: the concrete schedule. defines: the `-D`s the C was read with; those that name parameters
    are sizes and stay out of the preprocessor. arch: nvcc's `-arch` (CUDA).
    """
    host = host_names(text, program)
    name = host.function
    files = {f"{name}.h": header(text, program, host), "Makefile": ""}
    if text.language == "cuda":
        files[f"{name}.cu"] = text.source
        files[f"{name}_launch.cu"] = cuda_launcher(text, program, host)
        files["main.c"] = cuda_driver(text, program, host)
        files["Makefile"] = cuda_makefile(text, name, arch)
    elif text.language == "c":
        files[f"{name}_kernels.c"] = text.source
        files[f"{name}_launch.c"] = c_launcher(text, program, host)
        files["main.c"] = c_driver(text, program, host)
        files["Makefile"] = c_makefile(text, name)
    else:
        files[f"{name}.cl"] = text.source
        files[f"{name}_launch.c"] = opencl_launcher(text, program, host)
        files["opencl.h"], files["opencl.c"] = loader_header(), loader_source()
        files["main.c"] = opencl_driver(text, program, host)
        files["Makefile"] = opencl_makefile(name)
    files[f"{name}.mdh"] = plan_text if plan_text.endswith("\n") else plan_text + "\n"
    if includes_header(program):
        files[HEADER] = header_text()
    files.update(reference_files(program, name, files, defines or {}))
    files["manifest.json"] = manifest(text, program, name, tuple(sorted([*files, "manifest.json"])))
    return dict(sorted(files.items()))


def includes_header(program: Program) -> bool:
    """Whether the files need the header of mdh beside them."""
    return needs_header(program) or _INCLUDED.search(c_text(program)) is not None


def c_text(program: Program) -> str:
    """The program as the user wrote it in C, or what other languages mean in C; empty if it has no text."""
    if program.source is None or is_c(program.source):
        return program.source.text if program.source else ""
    assert program.syntax is not None
    return function_text(program.syntax, frozenset(n for s in program.stages for n in s.written))


def reference_files(
    program: Program, function: str, taken: Mapping[str, str], defines: Mapping[str, str | int]
) -> dict[str, str]:
    """The user's C, or what a text of another language means in C, and the file that compiles it as the
    driver's judge.

    The C is as it was written, save that its own values of macros that were bound stand under `#ifndef`:
    what binds a macro wins over the file, in this folder as in mdh. The header of mdh lies beside it.

    Where the C compiler lacks a type of the C, that file still compiles and says which one.
    """
    if program.source is None:
        return {}
    text = c_text(program)
    own = PurePath(program.source.name).name
    if _NAMEABLE.fullmatch(own) is None:
        own = f"{function}.c"
    # make has a rule of its own that builds a file called `Makefile` from one called `Makefile.c`
    while own in taken or own == "reference.c" or own.removesuffix(".c") in taken:
        own = f"user_{own}"
    sizes = language(program.source).size_spans(program.source)
    arrays, others = split_constants(defines)
    bound = {k: v for k, v in sorted(others.items()) if k not in sizes}
    # macros that stay open are variables, which the call of the reference sets
    added = [s.name for s in program.opens if s.name in bound]
    bound |= {name: _variable(name) for name in added}
    included = ["#include <stdint.h>"] if added or arrays else []
    macros = [
        *included,
        *(f"static int {_variable(n)};" for n in added),
        *(f"#define {k} {v}" for k, v in bound.items()),
    ]
    judge = f"{function}_reference"
    if arrays and is_c(program.source):
        variables = {name: _variable(name) for name in added}
        through = through_constants(judge, program, arrays, others, variables)
    else:
        through = _through(judge, program, text, added)
    lines = [
        f"const char *const {function}_lacks = 0;",
        *(f"#undef {p}" for p in program.params if p in COMPILER_WORDS),
        *macros,
        f"#define {program.name} {f'{judge}_as_written' if through else judge}",
        *([] if program.name == "main" else ["#define main main_of_reference"]),
        f'#include "{own}"',
        *through,
    ]
    for t in half_types("\n".join([text, *macros])):
        absent = [f'const char *const {function}_lacks = "{t}";', f"void {judge}(void) {{}}"]
        lines = [f"#if {HALF_TYPES[t]}", *lines, "#else", *absent, "#endif"]
    said = "/* The C function as it was written; the driver calls it to judge the kernels. */"
    return {
        own: _INCLUDED.sub(rf'\1"{HEADER}"', guarded(text, frozenset(bound))),
        "reference.c": "\n".join([said, *lines]) + "\n",
    }


def _variable(name: str) -> str:
    """The variable in `reference.c` that stands for a macro whose value the call gives."""
    return f"open_{name}"


def _through(judge: str, program: Program, text: str, added: Sequence[str]) -> list[str]:
    """A function that calls the user's: a static one is not seen outside of its file, one that takes 16-bit
    numbers is called with floats, since the driver's compiler may lack the types, and one whose macros stay
    open finds their values in variables. added: these macros."""
    types = reference_types(program)
    static = re.search(rf"\bstatic\b[^;{{}}()]*\b{program.name}\s*\(", text)
    if (
        static is None
        and not added
        and not any(s.dtype.is_float and s.dtype.bits < 32 for s in program.scalars)
    ):
        return []
    names = [f"given_{i}" for i in range(len(types))]
    params = ", ".join(f"{t} {n}".replace("* ", "*") for t, n in zip(types, names, strict=True))
    given = dict(zip(program.params, names, strict=True))
    sets = [f"    {_variable(name)} = {given.pop(name)};" for name in added]
    call = f"    {judge}_as_written({', '.join(given.values())});"
    return [f"void {judge}({params})", "{", *sets, call, "}"]
