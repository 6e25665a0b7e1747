"""CUDA texts compile without a warning and without a spill, for two architectures, on any machine."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U8, U16
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.target import features, modules
from tests.target.features import ATOMIC_CASES, Pair

TYPES = (F16, BF16, F32, F64, I8, U8, U16, I32, I64)
MODULES: dict[str, Pair] = {
    "saxpy": modules.saxpy("cuda"),
    "matmul": modules.matmul("cuda"),
    "double buffer": modules.matmul("cuda", engine="async", slots=2),
    "warp sum": modules.warp_sum(),
    "histogram": modules.histogram("cuda"),
    "relu": modules.relu("cuda"),
    "ticket": features.ticket("cuda"),
    "names": features.names("cuda"),
    "huge": features.huge("cuda"),
    "large shared": features.large_shared(),
    "swizzle": features.swizzled("cuda", 128),
    **{f"scaled {t} {n}": features.scaled("cuda", t, n) for t in TYPES for n in (1, 2, 4)},
    **{f"masks {t}": features.masks("cuda", t) for t in (F16, F32, F64, I32)},
    **{
        f"predicated {e} {n} {f} {t}": features.predicated("cuda", f, n, e, t)
        for e in ("plain", "async")
        for n in (1, 2, 4)
        for f in (0.0, 1.5)
        for t in (F16, F32, F64)
    },
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", MODULES)
def test_compiles_clean(name: str, arch: str) -> None:
    text = emit(*MODULES[name])
    cubin = compile_cubin(text, arch)
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0
    assert cubin.image[:4] == b"\x7fELF"
    assert set(cubin.kernels) == {k.name for k in text.kernels}
    assert cubin.shared == sum(k.static_shared for k in text.kernels)


@pytest.mark.parametrize("shared", [False, True], ids=["device", "shared"])
@pytest.mark.parametrize(("op", "dtype"), ATOMIC_CASES, ids=str)
def test_atomics_compile(op: str, dtype: object, shared: bool) -> None:
    cubin = compile_cubin(emit(*features.atomics("cuda", op, dtype, shared=shared)), "sm_80")  # type: ignore[arg-type]
    assert cubin.warnings == ()


def test_clusters_compile_for_hopper() -> None:
    assert compile_cubin(emit(*features.cluster()), "sm_90a").warnings == ()


def test_shared_memory_beyond_48_kib_is_dynamic() -> None:
    (kernel,) = emit(*features.large_shared()).kernels
    assert (kernel.static_shared, kernel.dynamic_shared) == (0, 8 * 1025 * 4 + 4096 * 8)


def test_strict_fp_forbids_contraction() -> None:
    module, program = modules.saxpy("cuda")
    text = emit(module, dataclasses.replace(program, strict_fp=True))
    assert "-fmad=false" in text.options
    compile_cubin(text, "sm_80")


def test_refused_text_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = emit(*modules.saxpy("cuda"))
    broken = dataclasses.replace(text, source=text.source.replace("threadIdx", "threadIds"))
    with pytest.raises(Failed) as failed:
        compile_cubin(broken, "sm_80")
    (diagnostic,) = failed.value.diagnostics
    assert diagnostic.code == "D121"
    assert 'identifier "threadIds" is undefined' in diagnostic.notes[0]
    kept, _, log = diagnostic.notes[-1].partition(", the compiler's messages in ")
    assert Path(kept.removeprefix("the text is kept in ")).read_text() == broken.source
    assert "threadIds" in Path(log).read_text()


def test_unknown_architecture() -> None:
    with pytest.raises(Failed) as failed:
        compile_cubin(emit(*modules.saxpy("cuda")), "sm_35")
    assert failed.value.diagnostics[0].code == "D122"


STARVED = """
import resource
from pathlib import Path
from mdh.diagnostics import Failed
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.target import modules

text = emit(*modules.matmul("cuda"))
pages = int(Path("/proc/self/statm").read_text().split()[0])
# the interpreter itself needs some
soft = (pages << 12) + (24 << 20)
resource.setrlimit(resource.RLIMIT_AS, (soft, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    compile_cubin(text, "sm_90a")
except Failed as failed:
    print(failed.diagnostics[0].code)
"""


def test_where_it_gets_no_memory_the_text_is_not_to_blame() -> None:
    done = subprocess.run([sys.executable, "-c", STARVED], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["D120"], done.stderr


def test_what_the_text_is_to_blame_for_is_refused() -> None:
    text = emit(*modules.saxpy("cuda"))
    broken = dataclasses.replace(text, source=text.source + "\nint broken(void) { return nothing; }\n")
    with pytest.raises(Failed, match="D121: NVRTC refuses"):
        compile_cubin(broken, "sm_90a")
    crowded = "__shared__ int s[99999]; s[*x] = 1; *x = s[*x + 1];"
    crowded = f'extern "C" __global__ void crowded(int *x) {{ {crowded} }}'
    with pytest.raises(Failed, match="D121: NVRTC refuses"):
        compile_cubin(dataclasses.replace(text, source=text.source + crowded), "sm_80")
