"""K166 and K110 for `@store(plain, vec=n)`: a thread stores n contiguous elements of the output at once."""

from collections.abc import Iterator
from math import gcd

from mdh.checker.footprint import chain_of
from mdh.checker.loops import Item, code_items
from mdh.checker.options import argument
from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Subject, at
from mdh.decompose.accesses import affine_index
from mdh.decompose.box_store import box_store
from mdh.diagnostics import Diagnostic
from mdh.hardware import Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.layout import Level
from mdh.ir.plan import Holding, StagePlan
from mdh.ir.program import DimKind, Result
from mdh.poly.digits import digits

CODE, EFFECT = "K166", "K110"
WIDEST = 16
VECTORS = (1, 2, 4, 8)
LONGEST = 64
"""The most parts of a loop that is still unrolled for wide stores."""

Reason = tuple[str, str]


def check_stores(subject: Subject) -> Iterator[Diagnostic]:
    """K166. vec=n > 1: the innermost loop of a thread's stores runs over contiguous, aligned groups of n.

    K110. On a CPU lanes are those of VEC; `subtile` belongs to the TMA engine.
    """
    plan = choose_combines(subject)
    widths: set[int] = set()
    for i, step in enumerate(plan.steps):
        for holding in step.holdings:
            yield from _subtile(subject, i, holding)
            if holding.vec is None:
                continue
            labels = subject.at_entry_attr(i, holding.buffer, "store")
            if subject.machine.kind == "cpu":
                headline = "`@store(plain, vec=n)` has no effect on a CPU, whose stores are as wide as VEC"
                yield Diagnostic(EFFECT, headline, labels, help="leave it out, or split a dimension over VEC")
                continue
            reason = _obstacle(subject, plan, holding) if holding.vec > 1 else None
            widths.add(holding.vec)
            if reason is None and len(widths) > 1:
                reason = "another store of the stage has another width", "the same vec for all of them"
            if reason:
                fact, said = reason
                yield Diagnostic(CODE, f"`{holding.buffer}` cannot be stored so: {fact}", labels, help=said)


def check_boxed_stores(subject: Subject) -> Iterator[Diagnostic]:
    """K166. `@store(tma)` stores whole boxes of what atoms of warp groups compute."""
    plan = choose_combines(subject)
    for i, step in enumerate(plan.steps):
        for holding in step.holdings:
            if holding.engine is Engine.TMA:
                yield from _boxed(subject, plan, i, holding)


def _boxed(subject: Subject, plan: StagePlan, i: int, holding: Holding) -> Iterator[Diagnostic]:
    labels = subject.at_entry_attr(i, holding.buffer, "store")
    seen = Engine.TMA in subject.machine.copy_engines
    missing = (f"`{subject.machine.name}` has no copy engine `tma`", "@store(plain), or leave it out")
    found = box_store(subject.program, plan, subject.tiles.levels) if seen else missing
    if not isinstance(found, tuple):
        results = (r for r in plan.stage.results if any(o.buffer == holding.buffer for o in r.outputs))
        found = next(filter(None, (_between(subject, plan, r) for r in results)), None)
    if found is not None:
        headline = f"`{holding.buffer}` cannot be stored so: {found[0]}"
        yield Diagnostic(CODE, headline, labels, help=found[1])


def _subtile(subject: Subject, i: int, holding: Holding) -> Iterator[Diagnostic]:
    step = subject.written(i)
    index = subject.draft.outputs.index(holding.buffer)
    for attr in step.outputs[index].attrs if step else ():
        first = argument(attr)
        if attr.name == "store" and first and first.value == Engine.PLAIN and argument(attr, "subtile"):
            headline = "`subtile` has no effect on plain stores"
            said = "`@store(plain, vec=n)` says how wide they are"
            yield Diagnostic(EFFECT, headline, at(attr.span), help=said)


def _obstacle(subject: Subject, plan: StagePlan, holding: Holding) -> Reason | None:
    vec = holding.vec or 1
    buffer = subject.program.buffer_of[holding.buffer]
    size = buffer.dtype.bytes
    if vec * size > WIDEST or vec & (vec - 1):
        legal = [n for n in VECTORS if n * size <= WIDEST]
        return f"vec={vec} of {buffer.dtype} is {vec * size} bytes", f"vec: {', '.join(map(str, legal))}"
    for n, result in enumerate(subject.stage.results):
        if all(o.buffer != buffer.name for o in result.outputs):
            continue
        reason = _apart(subject, plan, n, result) or _ragged(subject, plan) or _broken(subject, plan, result)
        if reason:
            return reason
        loops = _store_loops(subject, plan, result)
        index = next(o.index for o in result.outputs if o.buffer == buffer.name)
        function = affine_index(subject.program, subject.stage, index[-1:])
        rows = gcd(*buffer.shape[-1:]) if len(buffer.shape) > 1 else 0
        most = _run(plan, function[0], loops, rows) if function else 1
        if most % vec:
            fitting = ", ".join(str(k) for k in VECTORS if most % k == 0 and k * size <= WIDEST)
            return f"no loop of a thread stores {vec} aligned neighbours", f"vec: {fitting}"
    return None


def _apart(subject: Subject, plan: StagePlan, n: int, result: Result) -> Reason | None:
    """Why elements are finished one by one: by threads that did not compute them, or in no order."""
    one = "vec=1, or leave it out"
    if subject.stage.scattered or any(d.kind is DimKind.PS for d in subject.stage.dims):
        return "its elements are finished one by one", one
    if plan.combines[n]:
        return f"its partial results meet one by one (`{plan.combines[n][-1]}`)", one
    outputs = {o.buffer for o in result.outputs}
    if any(h.region == Space.SM and h.buffer in outputs for step in plan.steps for h in step.holdings):
        return "results in SM are stored one by one, by all threads", "hold them in RM, or vec=1"
    return _between(subject, plan, result)


def _between(subject: Subject, plan: StagePlan, result: Result) -> Reason | None:
    """Why the parts of a reduction read what the ones before them have stored."""
    items = code_items(plan, cpu=False)
    before = items[: _opens(subject, plan, items, result)]
    if not any(isinstance(x, Level) and subject.reduces(x.dim) for x in before):
        return None
    output = min(o.buffer for o in result.outputs)
    layout = ",".join(str(k + 1) for k in range(len(subject.program.buffer_of[output].shape)))
    said = f"`{output}:RM[{layout}]` at the outermost step that splits a reduction"
    return "partial results are stored between the parts of a reduction", said


def _ragged(subject: Subject, plan: StagePlan) -> Reason | None:
    """Why a thread's stores are guarded element by element: tiles inside a block do not divide."""
    for step in plan.steps:
        for split in step.splits:
            inside = split.layer not in (Layer.BLK, Layer.CLU) and not subject.reduces(split.dim)
            if inside and not split.exact:
                name = subject.dim(split.dim)
                return f"tiles of {split.tile} do not divide {split.parent} of `{name}`", "tiles that divide"
    return None


def _broken(subject: Subject, plan: StagePlan, result: Result) -> Reason | None:
    """Why the innermost loop of a map without a region cannot be unrolled over its stores."""
    items = code_items(plan, cpu=False)
    loops = [x for x in items if isinstance(x, Level)]
    if _opens(subject, plan, items, result) < len(items) or result.op is not None or not loops:
        return None
    if any(isinstance(x, int) and plan.steps[x].stagings for x in items[items.index(loops[-1]) :]):
        return "its innermost loop copies an input part by part", "stage the input further out"
    unroll = plan.steps[loops[-1].step].unroll or 0
    return (f"its innermost loop is unrolled by {unroll}", "`@unroll`, or none") if unroll else None


def _store_loops(subject: Subject, plan: StagePlan, result: Result) -> set[tuple[int, int]]:
    """(step, dim) of the loops that store a thread's elements. For a map without a region, this is the
    innermost loop."""
    items = code_items(plan, cpu=False)
    opens = _opens(subject, plan, items, result)
    held = [x for x in items[opens:] if isinstance(x, Level) and not subject.reduces(x.dim)]
    if opens == len(items) and result.op is None:
        held = [x for x in items if isinstance(x, Level)][-1:]
    return {(x.step, x.dim) for x in held}


def _opens(subject: Subject, plan: StagePlan, items: list[Item], result: Result) -> int:
    """The item before which the outermost region of the result opens; the end if the result has no region."""
    outputs = {o.buffer for o in result.outputs}
    points = [
        k
        for k, x in enumerate(items)
        if isinstance(x, int) and any(h.region and h.buffer in outputs for h in plan.steps[x].holdings)
    ]
    if result.op is None:
        return min(points, default=len(items))
    start = end = min((k + 1 for k in points), default=len(items))
    for k in reversed(range(end)):
        item = items[k]
        if isinstance(item, Level):
            if not subject.reduces(item.dim):
                break
            start = k
    return start


def _run(plan: StagePlan, function: Affine, loops: set[tuple[int, int]], rows: int) -> int:
    """The most contiguous, aligned elements that every group of the innermost loop has: a common divisor."""
    common, count = gcd(rows, function.const), 1
    for name, c in function.terms:
        if not name.isdecimal():
            common = gcd(common, c)
            continue
        d = int(name)
        for digit in digits(chain_of(plan, d)) or ():
            weight = abs(c) * digit.weight
            if digit.count == 1:
                continue
            if weight == 1 and c > 0 and (digit.cut, d) in loops and digit.count <= LONGEST:
                count = digit.count
            else:
                common = gcd(common, weight)
    return gcd(common, count)
