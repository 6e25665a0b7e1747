"""K166: the width and the memories of a copy are ones that its engine supports."""

import math
from collections.abc import Iterator

from mdh.checker.boxes import box_obstacle, ineffective
from mdh.checker.footprint import chain_of
from mdh.checker.loops import by_layer, inside
from mdh.checker.subject import Subject
from mdh.decompose.accesses import staged_groups
from mdh.diagnostics import Diagnostic
from mdh.hardware import THREADED, Engine, Space
from mdh.ir.copy_engine import unmapped
from mdh.ir.plan import Staging
from mdh.poly.digits import digits

CODE = "K166"
ASYNC_BYTES = (4, 8, 16)


def check_engines(subject: Subject) -> Iterator[Diagnostic]:
    """Async copies go from DM to SM in 4, 8 or 16 bytes; vec > 1 needs contiguous, aligned rows. TMA copies
    (`mdh.checker.boxes`) go from DM to SM in boxes."""
    staged: set[str] = set()
    for i in subject.plan.code_order:
        for staging in subject.plan.steps[i].stagings:
            labels = subject.at_entry_attr(i, staging.buffer, "copy")
            reason = _obstacle(subject, i, staging, staging.buffer in staged)
            staged.add(staging.buffer)
            for name in ineffective(staging) if staging.engine is Engine.TMA else ():
                said = "vec=" if name == "copy" else f"@{name}"
                headline = f"`{said}` has no effect on tma copies, and `{staging.buffer}` is copied so"
                where = subject.at_entry_attr(i, staging.buffer, name)
                yield Diagnostic(CODE, headline, where, help="leave it out")
            if reason:
                fact, said = reason
                yield Diagnostic(CODE, f"`{staging.buffer}` cannot be copied so: {fact}", labels, help=said)


def _obstacle(subject: Subject, i: int, staging: Staging, again: bool) -> tuple[str, str] | None:
    buffer = subject.program.buffer_of[staging.buffer]
    size = buffer.dtype.bytes
    transposing = staging.layout[-1] != len(buffer.shape) - 1
    vec = staging.vec or 1
    if staging.engine is Engine.TMA:
        return box_obstacle(subject, i, staging, again=again)
    if any(s.engine is Engine.TMA for s in subject.plan.steps[i].stagings):
        unseen = unmapped(buffer)
        fact = "the step copies another input by tma"
        if unseen is not None:
            return f"{unseen}, and {fact}", "@copy(async) for all inputs of the step"
        return fact, "@copy(tma) for all inputs of a step, or for none"
    if staging.engine == Engine.ASYNC:
        if staging.region != Space.SM:
            return "async copies go to shared memory", "@copy(plain), or stage it in SM"
        if again:
            return "async copies come from device memory, and an outer step has staged it", "@copy(plain)"
        if transposing and size not in ASYNC_BYTES:
            moved = (
                f"a transposing async copy moves single elements of 4 or 8 bytes, {buffer.dtype} has {size}"
            )
            return moved, "@copy(plain), or the layout that keeps the last dimension fastest"
        if not transposing and staging.vec is not None and vec * size not in ASYNC_BYTES:
            legal = ", ".join(str(b // size) for b in ASYNC_BYTES if b >= size)
            return (
                f"vec={vec} of {buffer.dtype} is {vec * size} bytes, async copies move 4, 8 or 16",
                f"vec: {legal}",
            )
        if (
            staging.vec is None
            and not transposing
            and size < ASYNC_BYTES[0]
            and not _fits(subject, i, staging, 2)
        ):
            return f"rows of {buffer.dtype} are not aligned to 4 bytes", "@copy(plain)"
    if vec > 1 and transposing:
        fastest = ",".join(str(n + 1) for n in range(len(buffer.shape)))
        return f"vec={vec} needs the last dimension fastest in SM as in DM", f"vec=1, or layout [{fastest}]"
    if vec > 1 and _packed(subject, i, staging):
        return "the elements of a row have gaps between them", "vec: 1"
    if vec * size > max(16, subject.machine.vector_bytes):
        most = max(16, subject.machine.vector_bytes) // size
        return f"vec={vec} of {buffer.dtype} is {vec * size} bytes", f"vec: at most {most}"
    if vec > 1 and not _fits(subject, i, staging, vec):
        legal = ", ".join(str(n) for n in (1, 2, 4, 8, 16) if n < vec and _fits(subject, i, staging, n))
        return f"rows do not start at multiples of vec={vec} elements", f"vec: {legal}"
    return None


def _packed(subject: Subject, i: int, staging: Staging) -> bool:
    """Whether only every n-th element of the last dimension is read, and those are stored side by side."""
    tiles = (copy.tile for copy in subject.copies(i, staging.buffer))
    return any(tile.shape[-1] < tile.box[-1] for tile in tiles)


def _fits(subject: Subject, i: int, staging: Staging, vec: int) -> bool:
    return alignment(subject, i, staging) % vec == 0


def alignment(subject: Subject, i: int, staging: Staging) -> int:
    """The largest number of elements that divides every row's start and length, in DM and in the copy."""
    plan = subject.plan
    shape = subject.program.buffer_of[staging.buffer].shape
    within = {(x.step, x.dim) for x in inside(plan, i)}
    if staging.region == Space.SM:
        within |= {(x.step, x.dim) for x in by_layer(plan, *THREADED)}
    common = math.gcd(*shape[-1:]) if len(shape) > 1 else 0
    for group in staged_groups(subject.program, subject.stage, staging.buffer):
        common = math.gcd(common, *(shift[-1] for shift in group.shifts))
        for name, c in () if group.gather else group.affine[-1].terms:
            if not name.isdecimal():
                common = math.gcd(common, c)
                continue
            d = int(name)
            for digit in digits(chain_of(plan, d)) or ():
                if (digit.cut, d) not in within:
                    common = math.gcd(common, c * digit.weight)
    for copy in subject.copies(i, staging.buffer):
        shape = copy.tile.shape
        common = math.gcd(common, shape[-1])
        if len(shape) > 1:
            common = math.gcd(common, shape[-1] + staging.pad)
    return common or 1
