"""What the files of a compiled folder call the C function, its parameters and the workspaces."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mdh.ir.affine import Affine
from mdh.ir.expr import Binary, Call, Const, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Launch
from mdh.ir.program import Program
from mdh.ir.turns import Turns
from mdh.target.names import is_free_function, rename
from mdh.target.text import KernelText


@dataclass(frozen=True)
class HostNames:
    """`function`: the launcher, after which files are named. `names`: those of parameters, and the variables
    that hold workspaces. All keep their C spelling where that means nothing else in the files."""

    function: str
    names: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.names[name]


def host_names(text: KernelText, program: Program) -> HostNames:
    function = function_name(program.name)
    spaces = {w.name: f"{w.name}_space" for w in text.workspaces}
    taken = {function, *(k.name for k in text.kernels)}
    counters = [x.var for x in text.loops]
    renamed = rename((*program.params, *counters, *spaces.values()), "host", taken)
    names = {p: renamed[p] for p in (*program.params, *counters)}
    names |= {w: renamed[space] for w, space in spaces.items()}
    return HostNames(function, names)


def in_loops(
    text: KernelText,
    names: HostNames | Mapping[str, str],
    launch: Callable[[int], list[str]],
    clear: list[str],
    above: Callable[[Turns], list[str]] = lambda _: [],
) -> list[str]:
    """The launches of all kernels, in the loops around them. clear: clears workspaces, as each turn needs
    where a stage begins. above: lines in front of a loop."""
    out: list[str] = []
    for k, entry in enumerate(text.kernels):
        depth = sum(x.first < k <= x.last for x in text.loops)
        for x in (x for x in text.loops if x.first == k):
            name = names[x.var]
            low, ends, others = _ends(x, names)
            out += ["    " * (depth + 1) + line for line in above(x)]
            out.append(f"{'    ' * depth}    for (int {name} = {low}; {' && '.join(ends)}; ++{name}) {{")
            depth += 1
            out += [f"{'    ' * depth}    if ({cond})\n{'    ' * depth}        continue;" for cond in others]
        begins = not k or entry.stage != text.kernels[k - 1].stage
        out += ["    " * depth + line for line in (*(clear if depth and begins else []), *launch(k))]
        for _ in (x for x in text.loops if x.last == k):
            depth -= 1
            out.append(f"{'    ' * depth}    }}")
    return out


def _ends(x: Turns, names: HostNames | Mapping[str, str]) -> tuple[str, list[str], list[str]]:
    """Where a loop begins, while what it runs, and what leaves out a turn in between."""
    low, ends, others = "0", [f"{names[x.var]} < {x.trips}"], []
    for f in x.where:
        rest = f + Affine.of({x.var: -f.coefficient(x.var)})
        match f.coefficient(x.var):
            case 1 if low == "0":
                start = _sum(rest.scale(-1), names)
                low = f"{start} > 0 ? {start} : 0" if rest.terms else str(max(0, -rest.const))
            case -1:
                ends.append(f"{names[x.var]} <= {_sum(rest, names)}")
            case _:
                others.append(f"{_sum(f, names)} < 0")
    return low, ends, others


def _sum(f: Affine, names: HostNames | Mapping[str, str]) -> str:
    """A function of turns in C."""
    out = ""
    for name, c in sorted(f.terms, key=lambda t: (t[1] < 0, t[0])):
        term = names[name] if abs(c) == 1 else f"{abs(c)} * {names[name]}"
        sign = "-" if c < 0 else "+"
        out = f"{out} {sign} {term}" if out else (term if c > 0 else f"-{term}")
    if not out:
        return str(f.const)
    return out if not f.const else f"{out} {'+' if f.const > 0 else '-'} {abs(f.const)}"


def counted(launch: Launch, host: HostNames) -> tuple[str, str, str]:
    """The grid along x, y, z in C: numbers, or what the launcher makes of the open sizes."""
    x, y, z = (_count(launch.count(a), host) for a in range(3))
    return x, y, z


def _count(e: Expr, host: HostNames, inner: bool = False) -> str:
    """A count in C, in parentheses inside of another one."""
    match e:
        case Const(n):
            return str(n)
        case Var(name):
            return f"(size_t){host[name]}"
        case Call(Intrinsic.IMIN, (left, right)):
            a, b = _count(left, host, inner=True), _count(right, host, inner=True)
            out = f"{a} < {b} ? {a} : {b}"
        case Binary("/", left, Const(1)):
            return _count(left, host, inner)
        case Binary(op, left, right):
            out = f"{_count(left, host, inner=True)} {op} {_count(right, host, inner=True)}"
        case _:
            raise AssertionError(f"no count: {e}")
    return f"({out})" if inner else out


def function_name(name: str) -> str:
    """The launcher of the C function `name`: its own name, marked where that means something else."""
    return next(n for n in (name, f"{name}_", f"run_{name}") if is_free_function(n))
