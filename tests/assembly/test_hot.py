"""The hot loop: in made-up listings, and in what compilers here make of kernels."""

import shutil
from random import Random

import pytest

from mdh.assembly.hot import hot_loop
from mdh.assembly.listing import CodeListing
from mdh.assembly.of_c import listings_of_c, parsed
from mdh.assembly.of_cuda import listings_of_cuda, parsed_ptx, parsed_sass
from mdh.assembly.trips import trips_of
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import nvrtc_version
from mdh.target.text import KernelText
from tests.support.source_tree import ROOT

TEXT = """void f(void)
{
    for (int i = 0; i < 8; ++i) {
        s = 0;
        for (int k = 0; k < 100; k += 4)
            s += k;
        for (int z = 0; z < n; ++z)
            t = z;
    }
}"""
OBJDUMP = """
x.so:     file format elf64-x86-64

0000000000001000 <frame_dummy>:
frame_dummy():
    1000:	jmp    1000 <frame_dummy>

0000000000001100 <f>:
f():
/tmp/a/f.c:4
    1100:	xor    eax,eax
/tmp/a/f.c:6 (discriminator 3)
    1102:	add    eax,edx
    1104:	add    edx,0x4
/tmp/a/f.c:5 (discriminator 1)
    1107:	cmp    edx,0x64
    110a:	jne    1102 <f+0x2>
/usr/include/omp.h:9
    110c:	call   1040 <omp@plt>
/tmp/a/f.c:8
    110e:	mov    ecx,eax
    1110:	jne    110e <f+0xe>
/tmp/a/f.c:3
    1112:	jne    1100 <f>
    1114:	ret
"""
SASS = """
.text.f:
        //## File "kernel.cu", line 4
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        //## File "kernel.cu", line 6
        /*0010*/                   FFMA R2, R2, R3, R4 ;
        //## File "kernel.cu", line 5
        /*0020*/              @!P0 BRA `(.L_x_0) ;
        /*0030*/                   EXIT ;
.L_x_1:
        /*0040*/                   BRA `(.L_x_1);
        /*0050*/                   NOP;
"""
PTX = """.version 9.0
.visible .entry f(
	.param .u64 f_param_0
)
{
	.reg .pred 	%p<2>;
	.loc	1 4 9
	mov.u32 	%r1, 0;

$L__BB0_1:
	.loc	1 6 13
	fma.rn.f32 	%f1, %f2, %f3, %f1;
	.loc	1 5 9
	@%p1 bra 	$L__BB0_1;
	ret;
}
"""


def test_lines_run_as_often_as_the_loops_around_them() -> None:
    assert trips_of(TEXT, {}) == (1, 1, 8, 8, 200, 200, 8, 8, 8, 8)
    assert trips_of(TEXT, {"z": 3})[6:8] == (24, 24)


def _nest(rng: Random, depth: int) -> tuple[list[str], list[int]]:
    """Rows of a random text, and how often each runs by counting."""
    rows, runs = [], []
    for _ in range(rng.randint(1, 3)):
        if depth == 4 or rng.random() < 0.4:
            rows.append("    " * depth + "x += 1;")
            runs.append(1)
            continue
        start, stop, step = rng.randint(0, 3), rng.randint(4, 20), rng.randint(1, 5)
        times, braces = len(range(start, stop, step)), rng.random() < 0.7
        name = f"v{rng.randrange(10**6)}"
        inside, counts = _nest(rng, depth + 1)
        if not braces:
            inside, counts = inside[:1], counts[:1]
            if inside[0].lstrip().startswith("for"):
                inside, counts = ["    " * (depth + 1) + "y = 2;"], [1]
        by = f"{name} += {step}" if step > 1 else f"++{name}"
        head = f"for (int {name} = {start}; {name} < {stop}; {by})"
        rows += ["    " * depth + head + (" {" if braces else ""), *inside]
        runs += [times, *(times * n for n in counts)]
        if braces:
            rows.append("    " * depth + "}")
            runs.append(0)
    return rows, runs


@pytest.mark.parametrize("seed", range(60))
def test_random_nests(seed: int) -> None:
    rows, runs = _nest(Random(seed), 1)
    found = trips_of("\n".join(rows), {})
    assert [(row, n) for row, n, want in zip(rows, found, runs, strict=True) if want and n != want] == []


def _hot(listings: list[CodeListing] | tuple[CodeListing, ...]) -> tuple[int, list[str], tuple[int, ...]]:
    loop = hot_loop(listings, TEXT, {})
    assert loop is not None and loop.function == "f" and loop.around
    return loop.executed, [i.name for i in loop.instructions], loop.lines


def test_of_objdump() -> None:
    """The inner loop with more runs, not the shorter or the outer one, and not code of others."""
    found = [x for x in parsed(OBJDUMP, "f.c", "x86") if any(i.line for i in x.instructions)]
    assert [x.function for x in found] == ["f"]
    assert found[0].instructions[5].line is None
    assert _hot(found) == (800, ["add", "add", "cmp", "jne"], (5, 6))


def test_of_nvdisasm_and_of_ptx() -> None:
    """The jump to itself behind the end is no loop."""
    assert _hot(parsed_sass(SASS, "SASS")) == (400, ["FFMA", "BRA"], (5, 6))
    assert _hot(parsed_ptx(PTX, "PTX")) == (400, ["fma.rn.f32", "bra"], (5, 6))


def test_code_that_was_moved_out_of_the_way_is_no_loop() -> None:
    """It lies behind the loop, and jumps back to its middle."""
    text = PTX.replace("mov.u32 	%r1, 0;", "mov.u32 	%r1, 0;\n$L__BB0_3:\nadd.s32 %r1, %r1, 2;")
    text = text.replace("ret;", "ret;\n.loc 1 6 13\nadd.s32 %r1, %r1, 1;\nbra $L__BB0_3;")
    (listing,) = parsed_ptx(text, "PTX")
    loop = hot_loop([listing], TEXT, {})
    assert loop is not None
    assert [i.name for i in loop.instructions] == ["fma.rn.f32", "bra"]


def test_a_kernel_without_a_loop_is_shown_whole() -> None:
    (listing,) = parsed_ptx(PTX.replace("@%p1 bra 	$L__BB0_1;", ""), "PTX")
    loop = hot_loop([listing], TEXT, {})
    assert loop is not None and not loop.around
    assert len(loop.instructions) == 3
    assert hot_loop([], TEXT, {}) is None


def _product(machine: str, schedule: str) -> tuple[Plan, KernelText]:
    source = Source("f.c", (ROOT / "inputs_c" / "matmul.c").read_text())
    program = read_program(source, defines={"M": 256, "N": 256, "K": 256})
    pipeline = Pipeline()
    given = pipeline.schedule(Source("s.mdh", (ROOT / "schedules" / f"matmul/{schedule}.mdh").read_text()))
    target = "c" if machine == "generic-cpu" else "cuda"
    plan = pipeline.check(program, given, load_machine(machine), target).plan
    return plan, emit(lower(plan), program)


@pytest.mark.skipif(
    not shutil.which("objdump") or not shutil.which("cc"), reason="no objdump, or no compiler"
)
def test_of_a_product_in_c() -> None:
    """The loop over k, in which all multiplications are."""
    _, text = _product("generic-cpu", "generic-cpu/base")
    loop = hot_loop(listings_of_c(text), text.source, {})
    assert loop is not None and loop.around
    rows = text.source.split("\n")
    assert any("for (int k" in rows[n - 1] for n in loop.lines)
    assert sum(("fma" in i.name or "mul" in i.name or "fmla" in i.name) for i in loop.instructions) >= 6


def test_of_a_product_in_cuda() -> None:
    try:
        nvrtc_version()
    except Failed:
        pytest.skip("no NVRTC")
    _, text = _product("h200", "h200/base")
    loop = hot_loop(listings_of_cuda(text, "sm_90a"), text.source, {})
    assert loop is not None and loop.around
    assert dict(loop.counts).get("FFMA", dict(loop.counts).get("fma.rn.f32")) == 512
