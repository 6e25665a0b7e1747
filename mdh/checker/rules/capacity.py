"""K152, K153: the staged data of a block fit its shared memory, and those of a thread fit its registers."""

from collections.abc import Iterator

from mdh.checker.footprint import combine_bytes, fragment_words, register_words, shared_bytes, store_bytes
from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import Space
from mdh.ir.tile import Copy, Hold
from mdh.wording import plural

SHARED, REGISTERS = "K152", "K153"


def check_capacity(subject: Subject) -> Iterator[Diagnostic]:
    """K152. Bytes of all SM buffers, slots and combine scratch included <= shared memory of a block.

    K153. 32-bit words of all RM buffers and fragments of a thread <= registers of a thread.
    """
    plan, tiles = choose_combines(subject), subject.tiles
    cpu = subject.machine.kind == "cpu"
    used = shared_bytes(plan, tiles, cpu=cpu) + store_bytes(subject.program, plan, tiles)
    limit = subject.machine.shared_per_block
    if used > limit:
        yield _shared(subject, used, 0 if cpu else combine_bytes(plan), limit)
    words = register_words(plan, tiles) + fragment_words(plan)
    limit = subject.machine.registers_per_thread
    if words > limit:
        yield _registers(subject, words, limit)


def _shared(subject: Subject, used: int, scratch: int, limit: int) -> Diagnostic:
    what = "cache set aside for SM" if subject.machine.kind == "cpu" else "shared memory"
    headline = f"a block needs {used} bytes of {what}, `{subject.machine.name}` has {limit}"
    largest = [node for node in subject.tiles.kept if node.tile.space is Space.SM]
    notes = (f"{scratch} bytes are scratch of combining threads",) if scratch else ()
    slots = max((node.tile.slots for node in largest), default=1)
    said = "smaller tiles, fewer buffers in SM" + (", or fewer @stages" if slots > 1 else "")
    return Diagnostic(
        SHARED,
        headline,
        labels_of(subject, largest, "bytes"),
        notes,
        f"{said}: {used - limit} bytes too many",
        (("bytes", used), ("limit", limit)),
    )


def _registers(subject: Subject, words: int, limit: int) -> Diagnostic:
    largest = [node for node in subject.tiles.kept if node.tile.space is Space.RM]
    headline = f"a thread holds {words} registers of RM buffers, `{subject.machine.name}` has {limit}"
    labels = (*labels_of(subject, largest, "registers"), *at_promote(subject))
    if not labels:
        labels = subject.at_step(0, "its tiles stay with one thread")
    return Diagnostic(
        REGISTERS,
        headline,
        labels,
        help="smaller thread tiles, or more threads",
        witness=(("registers", words), ("limit", limit)),
    )


def at_promote(subject: Subject) -> tuple[Label, ...]:
    """The label of the second accumulator, which no entry names."""
    s = subject.plan.atoms
    if s is None or subject.plan.steps[s].promote is None:
        return ()
    return subject.at_step_attr(s, "promote", "holds the results of the atoms twice")


def labels_of(subject: Subject, found: list[Copy | Hold], unit: str) -> tuple[Label, ...]:
    """A label for each entry with its size, the largest first."""
    out: tuple[Label, ...] = ()
    for node in sorted(found, key=lambda node: -node.tile.bytes):
        if node.step is None:
            continue
        tile = node.tile
        amount = tile.bytes if unit == "bytes" else -(-tile.bytes // 4)
        shape = "×".join(str(n) for n in tile.shape) or "1"
        slots = f" in {plural(tile.slots, 'slot')}" if tile.slots > 1 else ""
        out += subject.at_entry(node.step, tile.buffer, f"{shape} elements{slots}: {amount} {unit}")
    return out
