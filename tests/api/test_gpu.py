"""Kernels called on arrays in a GPU's memory: cupy and torch, the caller's stream, wrong places."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.device.api import list_devices
from mdh.device.cuda import CudaDevice
from mdh.device.cuda_bound import ALIGNED
from mdh.diagnostics import Failed
from tests.support.source_tree import ROOT

pytestmark = pytest.mark.gpu
SIZES = {"M": 37, "N": 50, "K": 61}


@pytest.fixture
def cupy() -> Any:
    return import_module("cupy")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def _matmul(**sizes: int) -> "mdh.Kernel":
    return mdh.compile(ROOT / "inputs_c" / "matmul.c", device="cuda:0", defines=sizes or SIZES)


def _operands() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (SIZES["M"], SIZES["K"])).astype(np.float32)
    b = rng.integers(-4, 5, (SIZES["K"], SIZES["N"])).astype(np.float32)
    return a, b


def test_host_arrays_are_copied_in_and_out() -> None:
    a, b = _operands()
    c = np.zeros((SIZES["M"], SIZES["N"]), np.float32)
    assert _matmul()(a, b, c) is c
    np.testing.assert_array_equal(c, a @ b)


def test_cupy_arrays_are_used_in_place(cupy: Any) -> None:
    a, b = _operands()
    c = cupy.zeros((SIZES["M"], SIZES["N"]), cupy.float32)
    assert _matmul()(cupy.asarray(a), cupy.asarray(b), c) is c
    np.testing.assert_array_equal(cupy.asnumpy(c), a @ b)


def test_torch_tensors_are_used_in_place(torch: Any) -> None:
    a, b = _operands()
    c = torch.zeros((SIZES["M"], SIZES["N"]), device="cuda:0")
    assert _matmul()(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), c) is c
    np.testing.assert_array_equal(c.cpu().numpy(), a @ b)


def test_work_follows_the_callers_stream(torch: Any) -> None:
    """Producer, kernel and consumer on one side stream, without any other synchronisation."""
    kernel = mdh.compile(ROOT / "inputs_c" / "transpose.c", device="cuda:0", defines={"M": 2048, "N": 2048})
    x, y = (torch.zeros((2048, 2048), device="cuda:0") for _ in range(2))
    kernel(x, y)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for turn in range(1, 20):
            torch.cuda._sleep(1_000_000)
            x.fill_(turn)
            kernel(x, y)
            total = y.sum()
            assert float(total) == turn * 2048 * 2048


def test_strided_input_is_copied_and_strided_output_refused(
    cupy: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = _operands()
    c = cupy.zeros((SIZES["M"], SIZES["N"]), cupy.float32)
    _matmul()(cupy.asarray(np.ascontiguousarray(a.T)).T, cupy.asarray(b), c)
    np.testing.assert_array_equal(cupy.asnumpy(c), a @ b)
    assert "copy is used" in capsys.readouterr().err
    with pytest.raises(Failed) as caught:
        _matmul()(cupy.asarray(a), cupy.asarray(b), cupy.zeros((SIZES["N"], SIZES["M"]), cupy.float32).T)
    assert [d.code for d in caught.value.diagnostics] == ["A108"]


def test_device_memory_on_a_cpu_kernel_is_refused(cupy: Any) -> None:
    cpu = next((d.spec for d in list_devices() if d.kind == "cpu" and d.spec.startswith("opencl")), None)
    if cpu is None:
        pytest.skip("no OpenCL runtime for CPUs here")
    a, b = _operands()
    kernel = mdh.compile(ROOT / "inputs_c" / "matmul.c", device=cpu, defines=SIZES)
    with pytest.raises(Failed) as caught:
        kernel(a, cupy.asarray(b), np.zeros((SIZES["M"], SIZES["N"]), np.float32))
    assert [d.code for d in caught.value.diagnostics] == ["A105"]


def test_overlap_in_device_memory_is_refused(cupy: Any) -> None:
    square = mdh.compile(ROOT / "inputs_c" / "matmul.c", device="cuda:0", defines={"M": 32, "N": 32, "K": 32})
    a = cupy.zeros((32, 32), cupy.float32)
    with pytest.raises(Failed) as caught:
        square(a, cupy.zeros_like(a), a)
    assert [d.code for d in caught.value.diagnostics] == ["A107"]


def test_every_call_starts_afresh(cupy: Any) -> None:
    """Atomics and tickets leave their counters as they found them."""
    path = ROOT / "schedules" / "dot/h200/ticket.mdh"
    kernel = mdh.compile(ROOT / "inputs_c" / "dot.c", schedule=path, device="cuda:0", defines={"K": 9000})
    x, y, c = cupy.ones(9000, cupy.float32), cupy.full(9000, 2, cupy.float32), cupy.zeros(1, cupy.float32)
    for _ in range(50):
        kernel(x, y, c)
        assert float(c[0]) == 18000


def test_no_room_is_one_message(tmp_path: Path) -> None:
    side = 1 << 19
    huge = mdh.compile(ROOT / "inputs_c" / "transpose.c", device="cuda:0", defines={"M": side, "N": side})
    # files with holes: a terabyte each that takes no room
    a, b = (np.memmap(tmp_path / name, np.float32, "w+", shape=(side, side)) for name in "ab")
    with pytest.raises(Failed) as caught:
        huge(a, b)
    assert [d.code for d in caught.value.diagnostics] == ["D104"]


def test_guard_bands_leave_arrays_aligned() -> None:
    device = CudaDevice(0)
    for shift in (16, 48, 256):
        memory = np.zeros(4096 + shift, np.uint8)
        array = memory[shift : shift + 1024].view(np.float32)
        array[:] = np.arange(256)
        twin = device.twin(memory, array)
        assert twin.argument.pointer % ALIGNED == 0
        twin.send()
        array[:] = 0
        twin.fetch()
        assert array[255] == 255


SPLIT = """
1: (de-)comp( ^, ^, 8 ) ( ^, ^ ; ^ ) ( ^, ^, BLK.z )
2: (de-)comp( 8, 8, 1 ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, FOR.1 )
3: (de-)comp( 1, 1, 1 ) ( ^, ^ ; ^ ) ( THR.y, THR.x, FOR.1 )
"""
"""Blocks share the sum over k: their parts meet in a workspace."""


def _split(tmp_path: Path) -> "mdh.Kernel":
    path = tmp_path / "split.mdh"
    path.write_text(SPLIT)
    kernel = mdh.compile(ROOT / "inputs_c" / "matmul.c", path, "cuda:0", defines={"M": 64, "N": 64, "K": 64})
    (variant,) = kernel.variants.values()
    assert variant.built.text.workspaces
    return kernel


def test_a_graph_holds_kernels_with_a_workspace(torch: Any, tmp_path: Path) -> None:
    kernel = _split(tmp_path)
    a, b, c = (torch.randint(-4, 5, (64, 64), device="cuda:0").float() for _ in range(3))
    c.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(a, b, c)
        kernel(a, b, c)
    for _ in range(5):
        c.zero_()
        graph.replay()
        assert torch.equal(c, 2 * (a @ b))


def test_streams_have_workspaces_of_their_own(torch: Any, tmp_path: Path) -> None:
    kernel = _split(tmp_path)
    streams = [torch.cuda.Stream() for _ in range(4)]
    sets = [tuple(torch.randint(-4, 5, (64, 64), device="cuda:0").float() for _ in range(3)) for _ in streams]
    wanted = [10 * (a @ b) for a, b, _ in sets]
    torch.cuda.synchronize()
    for stream, (_, _, c) in zip(streams, sets, strict=True):
        with torch.cuda.stream(stream):
            c.zero_()
    for _ in range(10):
        for stream, (a, b, c) in zip(streams, sets, strict=True):
            with torch.cuda.stream(stream):
                kernel(a, b, c)
    torch.cuda.synchronize()
    for (_, _, c), want in zip(sets, wanted, strict=True):
        assert torch.equal(c, want)


def test_a_call_does_not_wait(torch: Any, tmp_path: Path) -> None:
    kernel = _split(tmp_path)
    a, b, c = (torch.ones((64, 64), device="cuda:0") for _ in range(3))
    kernel(a, b, c)
    torch.cuda.synchronize()
    torch.cuda._sleep(200_000_000)
    kernel(a, b, c)
    assert not torch.cuda.current_stream().query()
    torch.cuda.synchronize()


def test_bound_calls_follow_the_current_stream(torch: Any, tmp_path: Path) -> None:
    kernel = _split(tmp_path)
    a, b, c = (torch.ones((64, 64), device="cuda:0") for _ in range(3))
    run = kernel.bind(a, b, c)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for turn in range(1, 10):
            torch.cuda._sleep(1_000_000)
            a.fill_(turn)
            c.zero_()
            assert run() is c
            assert float(c.sum()) == turn * 64**3


def test_a_thread_without_a_context_can_call(torch: Any, tmp_path: Path) -> None:
    kernel = _split(tmp_path)
    a, b, c = (torch.ones((64, 64), device="cuda:0") for _ in range(3))
    kernel(a, b, c)
    with ThreadPoolExecutor(1) as threads:
        for _ in range(3):
            threads.submit(kernel, a, b, c).result()
    torch.cuda.synchronize()
    assert float(c[0, 0]) == 1 + 4 * 64


TURNS = """void steps(float a[64], float b[64]) {
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < 63; i++) b[i] = a[i - 1] + a[i + 1] - t;
    for (int i = 1; i < 63; i++) a[i] = b[i] / 2;
  } }"""


def _steps(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], calls: int) -> None:
    for t in range(20 * calls):
        b[1:-1] = a[:-2] + a[2:] - np.float32(t % 20)
        a[1:-1] = b[1:-1] / 2


def test_loops_around_kernels_are_replayed_as_a_graph(cupy: Any) -> None:
    a = np.random.default_rng(0).integers(-8, 9, 64).astype(np.float32)
    b = np.zeros(64, np.float32)
    device_a, device_b = cupy.asarray(a), cupy.asarray(b)
    kernel = mdh.compile(mdh.Source("steps.c", TURNS), device="cuda:0")
    run = kernel.bind(device_a, device_b)
    for calls in (1, 1, 1, 2):
        for _ in range(calls):
            run()
        _steps(a, b, calls)
        np.testing.assert_allclose(cupy.asnumpy(device_a), a, rtol=1e-5)


def test_a_user_captures_loops_around_kernels(cupy: Any) -> None:
    a = np.random.default_rng(0).integers(-8, 9, 64).astype(np.float32)
    b = np.zeros(64, np.float32)
    device_a, device_b = cupy.asarray(a), cupy.asarray(b)
    run = mdh.compile(mdh.Source("steps.c", TURNS), device="cuda:0").bind(device_a, device_b)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        run()
        run()
        stream.synchronize()
        stream.begin_capture()
        run()
        graph = stream.end_capture()
        graph.launch(stream)
        graph.launch(stream)
        stream.synchronize()
    _steps(a, b, 4)
    np.testing.assert_allclose(cupy.asnumpy(device_a), a, rtol=1e-5)
