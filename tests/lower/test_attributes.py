"""What attributes do to the text: CUDA golden and compiled; the same schedule in OpenCL under Oclgrind."""

from dataclasses import dataclass, field

import pytest

from mdh.checker.run import check
from mdh.device.oclgrind import open_oclgrind
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.support.pairs import arguments, execute
from tests.support.source_tree import ROOT

MATMUL = """\
void matmul(const float A[64][48], const float B[48][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 48; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
TRANSPOSE = """\
void transpose(const double X[64][64], double Y[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      Y[j][i] = X[i][j];
}
"""


TILED = """\
1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^,^,16 ) ( A:SM[2,1], B:SM[1,2] ; C:RM[1,2] ) ( ^,^,FOR.1 ) @stages(2)
3: (de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )
"""


MAP = """\
void map(const float X[64][128], float Y[64][128]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 128; j++)
      Y[i][j] = 2 * X[i][j] + 1;
}
"""


STENCIL = """\
void stencil(const float X[50][70], float Y[48][68]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 68; j++)
      Y[i][j] = X[i][j] + X[i + 1][j + 1] * X[i + 2][j] + X[i + 1][j + 2];
}
"""


@dataclass(frozen=True)
class Case:
    """`shows`: pieces of the CUDA text that only the attribute brings. opencl: legal there, too."""

    c: str
    schedule: str
    shows: tuple[str, ...] = field(default=())
    opencl: bool = True


CASES = {
    "swizzle": Case(
        MATMUL,
        "1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
        "2: (de-)comp( ^,^,16 ) ( A:SM[1,2]@swizzle(64), B:SM[1,2]@swizzle(128) ; ^ ) ( ^,^,FOR.1 )\n"
        "3: (de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"
        "4: (de-)comp( ^,^,1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^,^,FOR.1 )\n",
        ("swizzle_64_4_32(thr_i", "*(const float4 *)&B_SM[swizzle_128_4_32("),
    ),
    "swizzle_slots": Case(
        MATMUL,
        "1: (de-)comp( 32,64,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
        "2: (de-)comp( ^,^,24 ) ( A:SM[2,1]@swizzle(32), B:SM[1,2]@copy(async else plain)@swizzle(128) ;\n"
        "   ^ ) ( ^,^,FOR.1 ) @stages(2)\n"
        "3: (de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n",
        ("swizzle_32_4_32(slot", "cp_async_16(&B_SM[swizzle_128_4_64("),
    ),
    "swizzle_double": Case(
        TRANSPOSE,
        "1: (de-)comp( 16,16 ) ( X:SM[1,2]@swizzle(128) ; ^ ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 1,1 ) ( ^ ; ^ ) ( THR.x, THR.y )\n",
        ("swizzle_128_8_16(",),
    ),
    "fragments": Case(
        MATMUL,
        f"{TILED}4: (de-)comp( ^,^,1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^,^,FOR.1 ) @stages(2)\n",
        ("float A_RM[8];", "const int next_k_4 = min(k_4 + 1, 15);", "A_RM[slot_k_4 * 4 + i_5]"),
    ),
    "fragments_unrolled": Case(
        MATMUL,
        f"{TILED}4: (de-)comp( ^,^,1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^,^,FOR.1 ) @stages(2) @unroll\n",
        ("#pragma unroll\n        for (int k_4 = 0; k_4 < 16; ++k_4) {", "if (k_4 + 1 <= 15) {"),
    ),
    "fragments_of_three": Case(
        MATMUL,
        f"{TILED}4: (de-)comp( ^,^,1 ) ( ^, B:RM[1,2] ; ^ ) ( ^,^,FOR.1 ) @stages(3) @unroll(6)\n",
        ("float B_RM[12];", "k_4_first < 15; k_4_first += 3", "#pragma unroll 2"),
    ),
    "fragments_and_slots": Case(
        MATMUL,
        "1: (de-)comp( 32,64,^ ) ( ^,^ ; C:RM[1,2] ) ( BLK.y, BLK.x, ^ )\n"
        "2: (de-)comp( 4,8,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"
        "3: (de-)comp( ^,^,2 ) ( A:RM[1,2], B:SM[1,2] ; ^ ) ( ^,^,FOR.1 ) @stages(2)\n",
        ("float A_RM[16];", "float B_SM[256];", "slot_k_3"),
    ),
    "store_pairs": Case(
        MATMUL,
        TILED.replace("C:RM[1,2]", "C:RM[1,2]@store(plain, vec=2)"),
        ("*(float2 *)&C[",),
    ),
    "store_singles": Case(
        MATMUL,
        TILED.replace("C:RM[1,2]", "C:RM[1,2]@store(plain, vec=1)"),
        ("thr_j * 4 + j_4] += C_RM[",),
    ),
    "store_map": Case(
        MAP,
        "1: (de-)comp( 8,64 ) ( ^ ; ^@store(plain, vec=4) ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 1,8 ) ( ^ ; ^ ) ( THR.y, THR.x )\n",
        ("*(float4 *)&Y[",),
    ),
    "store_transposed": Case(
        TRANSPOSE,
        "1: (de-)comp( 16,16 ) ( X:SM[1,2]@pad(1) ; ^@store(plain, vec=2) ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 2,1 ) ( ^ ; ^ ) ( THR.x, THR.y )\n"
        "3: (de-)comp( 1,1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )\n",
        ("*(double2 *)&Y[",),
    ),
    "copy_singles": Case(
        MAP,
        "1: (de-)comp( 8,64 ) ( ^ ; ^ ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 1,8 ) ( X:RM[1,2]@copy(plain, vec=1) ; Y:RM[1,2] ) ( THR.y, THR.x )\n",
        ("X_RM[c_X1] = X[",),
    ),
    "hints": Case(
        MATMUL,
        "1: (de-)comp( 32,64,24 ) ( ^,^ ; ^@cache(stream)@combine(kernel) ) ( BLK.y, BLK.x, BLK.z )\n"
        "2: (de-)comp( ^,^,12 ) ( A:SM[1,2]@cache(keep), ^ ; C:RM[1,2] ) ( ^,^,FOR.1 )\n"
        "3: (de-)comp( 4,8,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"
        "4: (de-)comp( ^,^,1 ) ( ^, B:RM[1,2]@cache(stream) ; ^ ) ( ^,^,FOR.1 )\n",
        ("__ldg((const float4 *)&A[", "__ldcs((const float4 *)&B[", "__stcs(&C["),
        opencl=False,
    ),
    "window_rows": Case(
        STENCIL,
        "1: (de-)comp( 20,16 ) ( ^ ; ^ ) ( BLK.y, BLK.x )\n"
        "2: (de-)comp( 1,^ ) ( X:SM[1,2]@window ; ^ ) ( FOR.1, ^ )\n"
        "3: (de-)comp( ^,1 ) ( ^ ; ^ ) ( ^, THR.x )\n",
        ("if (i_2 == 0) {", "X_SM["),
    ),
    "window_tiles": Case(
        STENCIL,
        "1: (de-)comp( ^,64 ) ( ^ ; ^ ) ( ^, BLK.x )\n"
        "2: (de-)comp( 16,24 ) ( X:SM[2,1]@window@copy(async else plain)@pad(1) ; ^ ) ( FOR.1, FOR.2 )\n"
        "3: (de-)comp( 4,3 ) ( ^ ; ^ ) ( THR.y, THR.x )\n",
        ("if (j_2 == 0) {", "cp_async_4_if("),
    ),
}


def _program(case: Case) -> Program:
    return read_program(Source("case.c", case.c))


@pytest.mark.parametrize("name", CASES)
def test_cuda_text(name: str, update_golden: bool) -> None:
    case = CASES[name]
    program = _program(case)
    plan = check(program, parse_schedule(Source("s.mdh", case.schedule)), load_machine("h200"), "cuda")
    text = emit(lower(plan), program)
    golden = ROOT / "tests" / "golden" / "attributes" / f"{name}.cu"
    if update_golden:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text.source, encoding="utf-8")
    assert text.source == golden.read_text(encoding="utf-8")
    for piece in case.shows:
        assert piece in text.source
    cubin = compile_cubin(text, "sm_90a")
    assert cubin.warnings == ()
    assert cubin.spill_bytes == cubin.stack == 0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.opencl])
def test_opencl_runs(name: str) -> None:
    """On small integers alone, since the simulator takes seconds for one run: sums of them are exact, so that
    a wrong element shows."""
    case = CASES[name]
    program = _program(case)
    plan = check(program, parse_schedule(Source("s.mdh", case.schedule)), load_machine("oclgrind"), "opencl")
    outcome = execute(plan, open_oclgrind(), arguments(program, {}, 0), {})
    assert outcome.kind == "equal", outcome.detail


def test_copies_of_bytes_use_vectors_that_opencl_has() -> None:
    """32 bytes are 8 floats, but no vector has 32 elements."""
    text = """void bytes(const uint8_t A[64], uint8_t C[64]) {
  for (int i = 0; i < 64; i++)
    C[i] = A[i];
}
"""
    program = read_program(Source("bytes.c", f"#include <stdint.h>\n{text}"))
    schedule = parse_schedule(Source("s.mdh", "1: (de-)comp( 32 ) ( A:SM[1] ; ^ ) ( BLK.x )"))
    kernel = emit(lower(check(program, schedule, load_machine("generic-cpu"), "opencl")), program)
    assert "uchar16" in kernel.source and "uchar32" not in kernel.source
