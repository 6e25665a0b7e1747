"""Faults of a code generator, as edits of the kernels that it prints: each makes a kernel that is wrong.

An edit is a pattern, what replaces it, and which of its matches is meant (None: every one). It applies to the
text that a schedule gives on the device at hand: here the default one, in planted_by_schedule.py beside this
file given ones. Where CUDA's text says the same thing otherwise, a second pattern and replacement follow.
"""

import re
from dataclasses import dataclass

LOOP = r"for \(int (\w+) = 0; \1 < (\d+); \+\+\1\)"
GUARD = r"if \(([^{};]*< [^{};]*)\)(?= *\n)"
BLOCK = r"(const int (blk_\w+) = [^;]+;)"
BODY = r"(_(?:kernel|B|top)\([^)]*\)\s*\{)"
BARRIER = r"\n *(?:__syncthreads\(\)|barrier\([^)]*\)|__syncwarp\(\));"


@dataclass(frozen=True, slots=True)
class Planted:
    """name: what went wrong; program: a C file's name and its sizes; which: None is every match; schedule:
    empty for the default one; items: the text needs several work-items a group."""

    name: str
    program: str
    defines: tuple[tuple[str, int], ...]
    pattern: str
    replacement: str
    which: int | None = 0
    cuda: tuple[str, str] | None = None
    schedule: str = ""
    items: bool = False

    def apply(self, source: str) -> str | None:
        """The broken text; None where this device's text has nothing of the kind."""
        pattern, replacement = self.pattern, self.replacement
        if "__global__" in source and self.cuda is not None:
            pattern, replacement = self.cuda
        elif "__kernel" not in source:
            pattern, replacement = pattern.replace("__global ", ""), replacement.replace("__global ", "")
        found = list(re.finditer(pattern, source))
        if self.which is None:
            broken = re.sub(pattern, replacement, source)
        elif found and self.which < len(found):
            at = found[self.which]
            broken = source[: at.start()] + at.expand(replacement) + source[at.end() :]
        else:
            return None
        return None if broken == source else broken


def of(
    program: str,
    defines: dict[str, int],
    *edits: tuple[str, str, str, int | None] | tuple[str, str, str, int | None, tuple[str, str]],
    schedule: str = "",
    items: bool = False,
) -> tuple[Planted, ...]:
    """Faults in one kernel."""
    sizes = tuple(defines.items())
    return tuple(
        Planted(name, program, sizes, *rest, schedule=schedule, items=items)  # type: ignore[arg-type, misc]
        for name, *rest in edits
    )


PLANTED = (
    *of(
        "matmul_init",
        {"M": 53, "N": 59, "K": 19},
        ("unwritten tile", BLOCK, r"\1 if (\2 == 1) return;", 0),
        ("loop one too short", LOOP, r"for (int \1 = 0; \1 < \2 - 1; ++\1)", 0),
        (
            "missing guard of a store",
            r"vec_j < 3(; \+\+vec_j\)\n\s+C\[)",
            r"vec_j < 8\1",
            -1,
            (GUARD, "if (1)"),
        ),
        ("wrong stride of the output", r"C\[((?:\(long\))?)blk_(\w+) \* (\d+)", r"C[\1blk_\2 * (\3 + 1)", 0),
        ("shifted input", r"A\[((?:\(long\))?blk_)", r"A[1 + \1", 0),
        ("accumulator starts at one", r"\{0\}", "{1}", 0, (r"C_RM = 0\.0f", "C_RM = 1.0f")),
        ("stale output is added to", r"(C\[[^\]]*\]) = ", r"\1 += ", 0),
        ("wrong combine operator", r" \+= ", " -= ", 0),
        ("an input is written", BODY, r"\1 ((__global float *)A)[3] = 5.0f;", 0),
        ("a store behind the array", BODY, r"\1 C[53 * 59 + 2] = 1.0f;", 0),
        ("a store before the array", BODY, r"\1 C[-3] = 1.0f;", 0),
        ("inputs truncated to integers", r"(A\[[^\]]*\])", r"(float)(int)\1", 0),
    ),
    *of(
        "matmul",
        {"M": 24, "N": 32, "K": 19},
        ("the old value is lost", r"(C\[[^\]]*\]) \+= ", r"\1 = ", 0),
        ("tile of an input staged short", LOOP, r"for (int \1 = 0; \1 < \2 / 2; ++\1)", 0),
    ),
    *of(
        "dot",
        {"K": 7000},
        (
            "a partial result is lost",
            r"part_(\w*) < (\d+)",
            r"part_\1 < \2 - 1",
            0,
            (r"unit < 4\)", "unit < 3)"),
        ),
        (
            "a partial result is counted twice",
            r"part_(\w*)\]",
            r"part_\1 > 0 ? part_\1 - 1 : 0]",
            0,
            (r"mine_2 \+ theirs_2", "mine_2 + theirs_2 + theirs_2"),
        ),
        ("a lane is lost", r"sum_3 \+ sum_4", "sum_3", 0, (r"part_5 \+ __shfl[^;]*, 16\)", "part_5")),
        ("edge of the reduction without guard", "k_2 < 43", "k_2 < 64", -1, (GUARD, "if (1)")),
        ("reduction starts in the last block's middle", LOOP, r"for (int \1 = 1; \1 < \2; ++\1)", 0),
        ("right once, wrong later", r"C\[0\] = (\w+);", r"C[0] = C[0] == C[0] ? 2.0f * \1 : \1;", 0),
    ),
    *of(
        "softmax",
        {"M": 21, "N": 45},
        ("the sum is not divided by", r" / total\[[^\]]*\]", "", 0),
        ("a stage's result of another row", r"top\[((?:\(long\))?blk_)", r"top[0 * \1", 2),
        ("a sum of the wrong sign", r"expf?\(", r"-\g<0>", 0),
    ),
    *of(
        "row_argmax",
        {"M": 7, "N": 45},
        (
            "the last of equal elements",
            r"(v_best_RM\w*) > (h_best_RM\w*)",
            r"\1 >= \2",
            None,
            (r"(theirs\w*) < (mine\w*)", r"\1 > \2"),
        ),
        ("least instead of greatest", r"(v_best_RM\w*) > (h_best_RM\w*)", r"\1 < \2", None),
        (
            "one element is not looked at",
            "vec_j < 5",
            "vec_j < 4",
            0,
            (r"\[unit\] = best_RM;", "[unit] = unit == 44 ? -INFINITY : best_RM;"),
        ),
    ),
    *of(
        "row_max",
        {"M": 7, "N": 45},
        ("minimum for maximum", r"lanes\[1\] >", "lanes[1] <", 0, ("theirs > mine", "theirs < mine")),
        ("the edge is not looked at", "vec_j < 5", "vec_j < 4", 0, ("unit < 13", "unit < 12")),
    ),
    *of(
        "prefix_sum",
        {"N": 3001},
        (
            "exclusive for inclusive",
            r"(float prefix(\w*) = carry\w* \+ )(part\w*);",
            r"\1(\3 - point\2);",
            0,
            ("= prefix;\n    ", "= held;\n    "),
        ),
        (
            "the blocks before are forgotten",
            r"S_RM = prefix_sum_prefix_\[[^\]]*\]",
            "S_RM = 0.0f",
            0,
            (r"carry \+ before", "carry"),
        ),
        ("a block's total one element short", LOOP, r"for (int \1 = 0; \1 < \2 - 1; ++\1)", 0),
    ),
    *of(
        "histogram",
        {"N": 3000, "BINS": 16},
        (
            "an update that is not atomic and overwrites",
            r"atomic_add\(&(H\[[^\]]*\]), ",
            r"(\1 = ",
            0,
            (r"atomicAdd\(&(H_SM\[.*), 1\)", r"\1 += 1"),
        ),
        ("bins that are not cleared", r"(H_SM\[[^\]]*\]) = 0;", r"\1 = 1;", 0),
        (
            "one bin is not written",
            LOOP,
            r"for (int \1 = 0; \1 < \2 - 1; ++\1)",
            -1,
            (r"tid < 16\)(\s*atomic)", r"tid < 15)\1"),
        ),
    ),
    *of(
        "jacobi2d",
        {"N": 37, "M": 45},
        ("a neighbour at the wrong place", r"\+ 47\]", "+ 46]", 0),
        ("the edge is overwritten", r"\+ 88\] = ", "+ 89] = ", 0, (r"\+ 48\] = ", "+ 49] = ")),
        (
            "a neighbour is left out",
            r" \+\s+\*\(__global const float8_u \*\)&A\[[^\]]*\+ 95\]",
            "",
            0,
            (r" \+\s+A\[[^\]]*\+ 95\]", ""),
        ),
    ),
    *of(
        "transpose",
        {"M": 20, "N": 36},
        ("swapped index", r"B\[((?:\(long\))?blk_\w) \* (\d+) \+ (\w+) \* (\d+)", r"B[\1 * \4 + \3 * \2", 0),
        ("edge without guard", "vec_i < 4", "vec_i < 8", -1, (GUARD, "if (1)")),
        ("a column is left out", LOOP, r"for (int \1 = 1; \1 < \2; ++\1)", 0),
        ("reads its own output", r"= A\[", "= B[", 0),
    ),
)
