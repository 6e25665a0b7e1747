"""Schedules that are legal by the language's own page, whatever the checker says.

What they use, none of the rules of `mdh/checker` can refuse: blocks over concatenated dimensions, and over
reduced ones that atomics or a second kernel join; loops in any order; tiles of any size; vectors of a
concatenated dimension at the very end. Spelled in the ways that the language knows: labels or none, aliases,
comments, sets of one value.
"""

from random import Random

from mdh.ir.program import DimKind, Program, Stage

AXES = "xyz"
LANES = (2, 4, 8, 16)


def plain_schedule(program: Program, seed: int) -> str:
    """One section a stage, named where the program has several; for CPUs."""
    rng = Random(f"plain {seed}")
    several = len(program.stages) > 1
    out: list[str] = []
    for stage in program.stages:
        steps = _spelled(rng, _steps(rng, program, stage))
        named = several or rng.random() < 0.2
        out += [f"stage {stage.name} {{", *(f"  {s}" for s in steps), "}"] if named else steps
    return "\n".join(out) + "\n"


def _steps(rng: Random, program: Program, stage: Stage) -> list[str]:
    tiles = [d.extent for d in stage.dims]
    scans = any(d.kind is DimKind.PS for d in stage.dims)
    out: list[str] = []

    def emit(below: list[int], cores: list[str]) -> None:
        shown = ["^" if t == p and rng.random() < 0.7 else str(t) for t, p in zip(below, tiles, strict=True)]
        inputs = ", ".join("^" for _ in program.inputs(stage))
        outputs = ", ".join("^" for _ in program.outputs(stage))
        out.append(f"( {', '.join(shown)} ) ( {inputs} ; {outputs} ) ( {', '.join(cores)} )")
        tiles[:] = below

    if rng.random() < 0.9 and not scans:
        emit(*_blocks(rng, stage, tiles))
    for _ in range(rng.randint(1, 3)):
        emit(*_loops(rng, tiles, in_order=scans))
    wide = [n for n, d in enumerate(stage.dims) if d.kind is DimKind.CC and any(x <= tiles[n] for x in LANES)]
    if wide and not scans and rng.random() < 0.4:
        n = rng.choice(wide)
        lanes = rng.choice([x for x in LANES if x <= tiles[n]])
        emit([lanes if m == n else t for m, t in enumerate(tiles)], ["^"] * len(tiles))
        below = [1 if m == n else t for m, t in enumerate(tiles)]
        emit(below, ["VEC.x" if m == n else "^" for m in range(len(tiles))])
    return out


def _blocks(rng: Random, stage: Stage, tiles: list[int]) -> tuple[list[int], list[str]]:
    below, cores = list(tiles), ["^"] * len(tiles)
    dims = list(range(len(tiles)))
    rng.shuffle(dims)
    axes = list(AXES)
    rng.shuffle(axes)
    for n in dims[: rng.randint(1, 3)]:
        if not axes or tiles[n] == 1 or (stage.dims[n].kind is not DimKind.CC and rng.random() < 0.4):
            continue
        below[n] = -(-tiles[n] // rng.randint(2, min(tiles[n], 12)))
        cores[n] = f"BLK.{axes.pop()}"
    return below, cores


def _loops(rng: Random, tiles: list[int], *, in_order: bool) -> tuple[list[int], list[str]]:
    below = [t if rng.random() < 0.4 else _tile(rng, t) for t in tiles]
    numbers = list(range(1, len(tiles) + 1))
    if not in_order:
        rng.shuffle(numbers)
    return below, ["^" if rng.random() < 0.1 and in_order else f"FOR.{n}" for n in numbers]


def _tile(rng: Random, parent: int) -> int:
    """A divisor, a power of two, or any size."""
    match rng.randint(0, 2):
        case 0:
            return rng.choice([t for t in range(1, min(parent, 4096) + 1) if parent % t == 0])
        case 1:
            return 1 << rng.randrange(parent.bit_length())
        case _:
            return rng.randint(1, parent)


def _spelled(rng: Random, steps: list[str]) -> list[str]:
    first = rng.choice((None, 0, 1))
    out = []
    for n, step in enumerate(steps):
        # label 0 is the initial state, which splits nothing
        label = "" if first is None else f"{n + 1}: "
        word = rng.choice(("(de-)comp", "(de/re)-comp"))
        if rng.random() < 0.2:
            step = step.replace("BLK.", rng.choice(("SMX.", "CU.", "COR.")))  # noqa: PLW2901
        if rng.random() < 0.2:
            step = step.replace("VEC.", "SIMD.")  # noqa: PLW2901
        comment = rng.choice(("", "", "", "  // a step", " /* and\n a comment */"))
        out.append(f"{label}{word}{step}{comment}")
    return out
