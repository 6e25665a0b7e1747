"""Open sizes: one kernel for a range of sizes computes what the C says at each of them."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import mdh
from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.cli.main import run
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.ir.kernel import Module
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import folder
from mdh.target.nvrtc import compile_cubin
from tests.support.native import compiler
from tests.support.random_open import KINDS, random_open_program, run_open_pair

PRODUCT = """
void mm(int M, int N, int K, const float A[M][K], const float B[K][N], float C[M][N])
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] = 0;
            for (int k = 0; k < K; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
}
"""
SOURCE = Source("mm.c", PRODUCT)
CUDA = pytest.param("cuda:0", marks=pytest.mark.gpu)
CUDA_PAIRS = pytest.param(
    "cuda:0", range(3000, 3000 + int(os.environ.get("MDH_RANDOM_OPEN", "40"))), marks=pytest.mark.gpu
)
ENDS = ("c", "opencl:0", CUDA)


def _read(**defines: str | int) -> Program:
    return Pipeline().read(SOURCE, defines=defines)


def _lowered(program: Program, machine: str, target: str) -> Module:
    seen = load_machine(machine)
    schedule = default_for(program, seen, target)
    return lower(check(program, schedule, seen, target))


def _arrays(m: int, n: int, k: int) -> tuple[NDArray[np.float32], ...]:
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    return a, b, np.full((m, n), np.nan, np.float32)


def _device_or_skip(spec: str) -> None:
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")


@pytest.mark.parametrize(("device", "seeds"), [("c", range(5)), ("opencl:0", range(20, 28)),
                                               ("oclgrind", range(2000, 2004)), CUDA_PAIRS])  # fmt: skip
def test_accepted_pairs_equal_the_reference(device: str, seeds: range) -> None:
    """Random programs with random schedules, at the ends of their ranges and between."""
    _device_or_skip(device)
    opened = open_device(device)
    found = [run_open_pair(seed, opened, opened.machine) for seed in seeds]
    assert [(o, text) for o, text in found if o.kind not in ("equal", "rejected")] == []
    assert sum(o.kind == "equal" for o, _ in found) >= len(seeds) // 4


def test_every_kind_of_program_is_drawn() -> None:
    assert {random_open_program(seed).kind for seed in range(80)} == set(KINDS)


@pytest.mark.parametrize("device", ENDS)
@pytest.mark.parametrize("opened", ["M", "N", "K", "MN", "MNK"])
def test_a_product_at_many_sizes(device: str, opened: str) -> None:
    _device_or_skip(device)
    defines = {name: mdh.open(1, 140) if name in opened else 40 for name in "MNK"}
    kernel = mdh.compile(SOURCE, device=device, defines=defines)
    for size in (1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 139, 140):
        m, n, k = (size if name in opened else 40 for name in "MNK")
        a, b, c = _arrays(m, n, k)
        kernel(m, n, k, a, b, c)
        assert (c == a @ b).all(), (m, n, k)


@pytest.mark.parametrize("device", ENDS)
def test_sizes_come_from_shapes_and_kernels_are_built_once(device: str) -> None:
    _device_or_skip(device)
    kernel = mdh.compile(SOURCE, device=device, defines={"M": "1..64", "N": 8, "K": mdh.open(4, 64, 4)})
    texts = set()
    for m, k in ((1, 4), (7, 32), (64, 64)):
        a, b, c = _arrays(m, 8, k)
        assert kernel(A=a, B=b, C=c, N=8) is c
        assert (c == a @ b).all()
        texts.add(id(kernel.specialise(M=m, K=k).built))
        bound = kernel.bind(A=a, B=b, C=c, N=8)
        c.fill(0)
        assert (bound() == a @ b).all()
    assert len(texts) == 1


def test_a_size_that_is_left_out_beside_one_that_is_open() -> None:
    """The first is bound by each call, and a kernel is built for each value; the second shares them."""
    _device_or_skip("c")
    kernel = mdh.compile(SOURCE, device="c", defines={"M": "1..64", "K": 16})
    assert kernel.sizes == ("M", "N")
    built = set()
    for m, n in ((1, 8), (9, 8), (9, 24), (64, 24)):
        a, b, c = _arrays(m, n, 16)
        kernel(A=a, B=b, C=c, K=16)
        assert (c == a @ b).all()
        built.add(id(kernel.specialise(M=m, N=n).built))
    assert len(built) == 2


@pytest.mark.parametrize("sizes", [{"M": 0, "K": 8}, {"M": 65, "K": 8}, {"M": 3, "K": 6}])
def test_other_values_are_refused_before_anything_runs(sizes: dict[str, int]) -> None:
    kernel = mdh.compile(SOURCE, device="opencl:0", defines={"M": "1..64", "N": 8, "K": "4..64:4"})
    a, b, c = _arrays(sizes["M"], 8, sizes["K"])
    with pytest.raises(Failed) as failed:
        kernel(A=a, B=b, C=c, N=8)
    assert [d.code for d in failed.value.diagnostics] == ["A111"]
    assert np.isnan(c).all()


@pytest.mark.parametrize("defines", [
    {"M": "1..4096", "N": 512, "K": 512},
    {"M": 512, "N": "1..4096", "K": 512},
    {"M": 512, "N": 512, "K": "1..4096"},
    {"M": "1..2048", "N": "1..2048", "K": "8..2048:8"},
])  # fmt: skip
@pytest.mark.parametrize("machine", ["a100", "h100"])
def test_cuda_texts_compile(defines: dict[str, str | int], machine: str) -> None:
    program = _read(**defines)
    text = emit(_lowered(program, machine, "cuda"), program)
    blocks = any(defines[name] != 512 for name in "MN")
    assert bool(text.kernels[0].launch.counts) == blocks
    compile_cubin(text, "sm_90a" if machine == "h100" else "sm_80")


def test_alignment_follows_the_divisor() -> None:
    """Rows of K elements begin at multiples of 16 bytes only if K is a multiple of 4."""
    wide, narrow = (
        emit(_lowered(p, "h100", "cuda"), p).source
        for p in (_read(M=512, N=512, K="4..512:4"), _read(M=512, N=512, K="4..512"))
    )
    assert "const float4 *)&A[" in wide
    assert "const float4 *)&A[" not in narrow


def test_indices_are_as_wide_as_the_largest_size_needs() -> None:
    small, large = (
        emit(_lowered(p, "h100", "opencl"), p).source
        for p in (_read(M="1..4096", N=512, K=512), _read(M="1..8388608", N=512, K=512))
    )
    assert "long" not in small
    assert "long" in large


def test_blocks_come_from_the_argument() -> None:
    program = _read(M="1..1000", N=64, K=64)
    schedule = parse_schedule(Source("s.mdh", "1: (de-)comp( 32, 16, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )"))
    kernel = lower(check(program, schedule, load_machine("h100"), "cuda")).kernels[0]
    assert kernel.launch.grid == (4, 32, 1)
    assert [kernel.launch.at({"M": m}).grid for m in (1, 32, 33, 1000)] == [
        (4, 1, 1), (4, 1, 1), (4, 2, 1), (4, 32, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("order", ["", "@order(grouped(4))", "@persistent", "@persistent @order(grouped(4))"])
@pytest.mark.parametrize("opened", ["M", "N", "MN"])
def test_orders_of_open_grids(order: str, opened: str) -> None:
    """Blocks in groups of rows and persistent blocks take all tiles of the grid, whatever its size."""
    defines: dict[str, str | int] = {"M": 20, "N": 20, "K": 6, **dict.fromkeys(opened, "1..60")}
    text = (
        f"1: (de-)comp( 4, 8, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ ) {order}\n"
        "2: (de-)comp( 1, 1, ^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )"
    )
    kernel = mdh.compile(SOURCE, Source("s.mdh", text), open_device("oclgrind"), defines=defines)
    for size in (1, 9, 60):
        m, n = (size if name in opened else 20 for name in "MN")
        a, b, c = _arrays(m, n, 6)
        kernel(m, n, 6, a, b, c)
        assert (c == a @ b).all(), (m, n)


def test_texts_without_open_sizes_name_none() -> None:
    text = emit(_lowered(_read(M=64, N=64, K=64), "h100", "cuda"), _read(M=64, N=64, K=64))
    assert "int M" not in text.source
    assert not text.kernels[0].launch.counts


@pytest.mark.parametrize("target", ["c", "opencl", "cuda"])
def test_folders_check_the_sizes(target: str) -> None:
    machine = "generic-cpu" if target == "c" else "h100"
    program = _read(M="1..4096", N=100, K="8..512:8")
    text = emit(_lowered(program, machine, target), program)
    files = folder(text, program, "")
    launcher = next(body for name, body in files.items() if "_launch" in name)
    assert "if (M < 1 || M > 4096)\n        return -1;" in launcher
    assert "if (K < 8 || K > 512 || K % 8)\n        return -1;" in launcher
    assert "if (N != 100)" in launcher
    assert "M: values from 1 to 4,096" in files["mm.h"]
    assert "A: f32 [M][K]" in files["mm.h"]
    manifest = json.loads(files["manifest.json"])
    size = next(p for p in manifest["parameters"] if p["name"] == "K")
    assert size == {
        "name": "K", "kind": "open_size", "dtype": "i32",
        "range": {"least": 8, "most": 512, "multiple": 8},
    }  # fmt: skip
    assert next(p for p in manifest["parameters"] if p["name"] == "A")["shape"] == ["M", "K"]
    assert any(isinstance(n, str) and "M" in n for n in manifest["kernels"][0]["grid"])


def test_a_folder_in_c_runs_at_each_size(tmp_path: Path) -> None:
    _device_or_skip("c")
    source = tmp_path / "mm.c"
    source.write_text(PRODUCT)
    words = ["compile", str(source), "-D", "M=1..300", "-D", "N=40", "-D", "K=8..64:8", "-m", "generic-cpu"]
    assert run([*words, "--target", "c", "-o", str(tmp_path / "out")]) == 0
    subprocess.run(["make", "-C", str(tmp_path / "out")], check=True, capture_output=True)
    program = str(tmp_path / "out" / "mm")
    for sizes in ((), ("M=1", "K=8"), ("M=77",), ("M=300", "K=64")):
        done = subprocess.run([program, "--repeat", "0", *sizes], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[:6]) == (0, "mm: ok"), done
    for wrong in ("M=0", "M=301", "K=12", "Q=1"):
        done = subprocess.run([program, wrong], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "[M=1..300] [K=8..64:8]" in done.stderr


def test_run_judges_some_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _device_or_skip("c")
    source = tmp_path / "mm.c"
    source.write_text(PRODUCT)
    words = ["run", str(source), "-D", "M=1..50", "-D", "N=8", "-D", "K=8", "--device", "c", "--check"]
    assert run([*words, "--repeat", "0"]) == 0
    shown = capsys.readouterr().out
    assert "  M = 1\n" in shown
    assert "  M = 50\n" in shown
    assert shown.count("  correct  ") == 5
    assert run([*words, "--repeat", "1", "--at", "M=7", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [point["sizes"] for point in told["at"]] == [{"M": 7}]


def test_explain_shows_what_stays_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "mm.c"
    source.write_text(PRODUCT)
    assert run(["explain", str(source), "-D", "M=1..50", "-D", "N=8", "-D", "K=8"]) == 0
    shown = capsys.readouterr()
    assert "i:50 cc open(M), j:8 cc, k:8 pw(+)" in shown.out
    assert "1: (de-)comp( ^, 8, 8 )" in shown.out
    assert "M = 50" in shown.err
