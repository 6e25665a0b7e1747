"""Identifiers that a target's text may use: no clash with its keywords, its builtins or another name."""

from collections.abc import Iterable, Mapping

from mdh.ir.expr import Var, walk
from mdh.ir.kernel import Alloc, Atomic, For, Kernel, Let
from mdh.ir.names import C_WORDS
from mdh.ir.walk import expressions, statements
from mdh.target.words import (
    COMPILER_WORDS,
    CUDA_WORDS,
    CXX_WORDS,
    FOLDER_WORDS,
    LAUNCHER_WORDS,
    LIBRARY,
    MACROS,
    MATH,
    OPENCL_WORDS,
    PATTERNS,
)

WORDS = {
    "c": C_WORDS | COMPILER_WORDS | MATH | LIBRARY | frozenset({"group"}),
    "cuda": C_WORDS | COMPILER_WORDS | CXX_WORDS | MATH | CUDA_WORDS,
    "opencl": C_WORDS | COMPILER_WORDS | MATH | OPENCL_WORDS,
    "host": C_WORDS | COMPILER_WORDS | CXX_WORDS | LAUNCHER_WORDS,
}


def is_free(name: str, language: str) -> bool:
    """True when the language gives `name` no meaning of its own; `host`: the C of a compiled folder."""
    if name in WORDS[language] or MACROS.fullmatch(name):
        return False
    if language != "host" and name.endswith("f") and name[:-1] in MATH:
        return False
    return PATTERNS[language].match(name) is None


def is_free_function(name: str) -> bool:
    """True when a launcher may be called so: a global name of a C program, after which files are named."""
    return name not in LIBRARY | FOLDER_WORDS and is_free(name, "host") and is_free(name, "cuda")


def rename(names: Iterable[str], language: str, taken: Iterable[str] = ()) -> Mapping[str, str]:
    """A name for each of `names` in order: itself where it is free, else marked as `fresh` does.

    Names that keep themselves are settled first, so a renamed one never takes the place of another.
    """
    wanted = list(dict.fromkeys(names))
    used = set(taken)
    out = {n: n for n in wanted if is_free(n, language) and n not in used}
    used.update(out)
    for name in wanted:
        if name not in out:
            out[name] = fresh(name, used, language)
            used.add(out[name])
    return out


def fresh(name: str, used: Iterable[str], language: str) -> str:
    """`name`, `name_`, or `v_name` with as few underscores after it as make it free and unused.

    The prefix comes in where the target keeps a whole family of names (`cuda…`, `half_…`) to itself.
    """
    used = frozenset(used)
    for candidate in (name, f"{name}_"):
        if candidate not in used and is_free(candidate, language):
            return candidate
    name = f"v_{name}"
    while name in used:
        name += "_"
    return name


def declared(kernel: Kernel) -> list[str]:
    """Parameters, then what the body declares and names, in order; a name may occur more than once."""
    out = [b.name for b in kernel.buffers] + [name for name, _ in kernel.scalars]
    out += [m.name for m in kernel.maps]
    for s in statements(kernel.body):
        match s:
            case Alloc(buf, _):
                out.append(buf.name)
            case Let(name, _, _):
                out.append(name)
            case For():
                out.append(s.var)
            case Atomic() if s.result is not None:
                out.append(s.result)
            case _:
                pass
        out.extend(n.name for e in expressions(s) for n in walk(e) if isinstance(n, Var))
    return out
