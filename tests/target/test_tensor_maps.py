"""What a folder holds of the copy engine: the launcher encodes tensor maps, with names of their own."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mdh.device.arguments import written_buffers
from mdh.lower.run import lower
from mdh.target.emit import emit
from mdh.target.folder import folder
from mdh.target.names import is_free, is_free_function
from mdh.tuner.measure.wire import read_text, text_json
from tests.atoms.products import planned
from tests.atoms.test_axes import grouped
from tests.support.source_tree import ROOT
from tests.target.test_folder import write

PROGRAM = """void await(const __bf16 A_map[256][128], const __bf16 turn[128][256], float tensor_map[256][256],
    const __bf16 encode[256][128], float A_map_map[256][256]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      tensor_map[i][j] = 0.0f;
      for (int k = 0; k < 128; k++)
        tensor_map[i][j] += (float)A_map[i][k] * (float)turn[k][j];
    }
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      A_map_map[i][j] = 0.0f;
      for (int k = 0; k < 128; k++)
        A_map_map[i][j] += (float)A_map[i][k] * (float)encode[j][k];
    }
}
"""
SCHEDULE = """stage tensor_map {
1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=2)
2: (de-)comp( ^, ^, 64 ) ( A_map:SM[1,2]@copy(tma)@swizzle(128), turn:SM[1,2]@copy(tma)@swizzle(128) ;
                           tensor_map:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 128, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
}
stage A_map_map {
1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 32 ) ( A_map:SM[1,2]@copy(tma)@swizzle(64), encode:SM[1,2]@copy(tma)@swizzle(64) ;
                           A_map_map:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(5)
3: (de-)comp( 64, 128, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
}
"""
ROLES_OF_THREADS = """
1: (de-)comp( 64,64,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=1)
2: (de-)comp( ^,^,32 ) ( A:SM[1,2]@copy(tma), B:SM[1,2]@copy(tma) ; C:RM[1,2] ) ( ^,^,FOR.1 ) @stages(2)
3: (de-)comp( 4,8,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )
"""
LEAST_REGISTERS = """
1: (de-)comp( 128, 256, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @persistent @roles(load=1, math=2, regs=24/168)
2: (de-)comp( ^, ^, 64 ) ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ;
                           C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(4)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 256, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""
"""The fewest that K174 allows: as many as each thread begins with."""
NVCC = shutil.which("nvcc")


def files(source: str = PROGRAM, schedule: str = SCHEDULE) -> dict[str, str]:
    program, plan = planned(source, schedule)
    return folder(emit(lower(plan), program), program, schedule, arch="sm_90a")


def built(folder_of: dict[str, str], into: Path) -> str:
    """What nvcc says of the launcher and its kernels."""
    write(folder_of, into)
    launcher = next(name for name in folder_of if name.endswith("_launch.cu"))
    words = [str(NVCC), "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas", "-v", "-c", launcher]
    done = subprocess.run(words, cwd=into, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    return done.stderr


def test_the_manifest_says_what_a_map_is_of() -> None:
    kernels = json.loads(files()["manifest.json"])["kernels"]
    maps = [[a for a in k["arguments"] if a["kind"] == "tensor_map"] for k in kernels]
    assert [[a["array"] for a in of_kernel] for of_kernel in maps] == [["A_map", "turn"], ["A_map", "encode"]]
    assert {k: v for k, v in maps[0][0].items() if k != "name"} == {
        "kind": "tensor_map",
        "array": "A_map",
        "dtype": "bf16",
        "shape": [256, 128],
        "box": [128, 64],
        "swizzle": 128,
        "written": False,
    }
    assert (maps[1][0]["box"], maps[1][0]["swizzle"]) == ([64, 32], 64)


def test_steps_of_a_convolution_with_strides() -> None:
    case = grouped((16, 16), (8, 8), "8, 8", stride=2)
    made = files(case.text, case.schedule)
    said = json.loads(made["manifest.json"])["kernels"][0]["arguments"]
    steps = {a["array"]: a.get("steps") for a in said if a["kind"] == "tensor_map"}
    assert steps == {"I": [1, 2, 2, 1], "F": None}
    launcher = next(text for name, text in made.items() if name.endswith("_launch.cu"))
    # the driver counts what a box passes, the fastest dimension first
    assert "{32, 16, 16, 1}, CU_TENSOR_MAP_SWIZZLE_64B, {1, 2, 2, 1})" in launcher
    assert "CU_TENSOR_MAP_SWIZZLE_64B, {1, 1, 1, 1})" in launcher
    assert "const cuuint32_t steps[]" not in launcher


def test_the_launcher_declares_each_name_once() -> None:
    launcher = next(text for name, text in files().items() if name.endswith("_launch.cu"))
    body = launcher[launcher.index("int await(") :]
    declared = re.findall(r"tensor_map (\w+);", body)
    params = re.findall(r"\*(\w+)[,)]", body[: body.index("{")])
    assert len(declared) == 4
    assert len({*declared, *params}) == len(declared) + len(params)
    assert {"encode", "tensor_map", "error"}.isdisjoint({*declared, *params})


def test_no_line_is_long() -> None:
    for name, text in files().items():
        long = [x for x in text.splitlines() if len(x) > 110 and "// " not in x and "await(" not in x]
        assert not name.endswith(".cu") or not long, long


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_nvcc_builds_it_without_warnings(tmp_path: Path) -> None:
    built(files(), tmp_path)


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_the_fewest_registers_are_enough(tmp_path: Path) -> None:
    source = (ROOT / "inputs_c" / "matmul_bf16.c").read_text(encoding="utf-8")
    said = built(files(source, LEAST_REGISTERS), tmp_path)
    assert " 0 bytes spill stores" in said and "(C75" not in said, said


def test_words_of_the_copy_engine_are_kept() -> None:
    for name in ("token_await", "tokens_ready", "tensor_map", "box_copy_2d", "wgmma_fence", "shared_matrix"):
        assert not is_free(name, "cuda") and not is_free_function(name)
    for name in ("encode", "tensor_map", "cuuint32_t", "CUtensorMap", "cuTensorMapEncodeTiled"):
        assert not is_free(name, "host")


def test_threads_that_compute_are_the_first_ones() -> None:
    """The block has one dimension, to which those that copy are added; 16 × 8 threads compute."""
    source = (ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8")
    program, plan = planned(source, ROLES_OF_THREADS)
    emitted = emit(lower(plan), program)
    assert emitted.kernels[0].launch.block == (256, 1, 1)
    assert "thr_i = tid / 8;" in emitted.source and "thr_j = tid % 8;" in emitted.source


def test_what_leaves_by_the_copy_engine_is_written() -> None:
    """Host arrays are copied back where a kernel writes them, also if it does so in boxes alone."""
    text = SCHEDULE.replace("tensor_map:RM[1,2] )", "tensor_map:RM[1,2]@store(tma) )")
    program, plan = planned(PROGRAM, text)
    emitted = emit(lower(plan), program)
    assert "tensor_map" in written_buffers(emitted)
    assert read_text(text_json(emitted)) == emitted
