"""The judge on opencl:0, in the host's memory and as on a device with memory of its own: the guard bands are
where the kernels store."""

from dataclasses import dataclass, replace

import pytest

from mdh.device.api import open_device
from mdh.device.opencl import OpenCLDevice
from mdh.device.opencl_memory import BufferRegion
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.text import KernelText
from mdh.tuner.measure.inputs import write_expected
from mdh.tuner.measure.judging import GuardedArrays, Judge, Trusted
from tests.support.corpus import INPUTS
from tests.support.planted_faults import PLANTED

SIZES = {"M": 53, "N": 59, "K": 19}
OUTSIDE = {
    "a store behind the array": "N103",
    "a store before the array": "N103",
    "an input is written": "N102",
}


@dataclass(frozen=True)
class Case:
    program: Program
    device: OpenCLDevice
    text: KernelText
    judge: Judge


def _as_on_a_gpu() -> OpenCLDevice:
    device = open_device("opencl:0")
    assert isinstance(device, OpenCLDevice)
    device.shares_memory = device.in_place = False
    return device


@pytest.fixture(scope="module", params=["host", "own"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    device = open_device("opencl:0") if request.param == "host" else _as_on_a_gpu()
    assert isinstance(device, OpenCLDevice)
    pipeline = Pipeline()
    path = INPUTS / "matmul_init.c"
    program = pipeline.read(Source(path.name, path.read_text(encoding="utf-8")), defines=SIZES)
    checked = pipeline.check(program, None, device.machine, "opencl")
    text = pipeline.emit(pipeline.lower(checked.plan), program)
    folder = tmp_path_factory.mktemp("expected")
    write_expected(program, 0, 0, folder)
    return Case(program, device, text, Judge(program, device, 0, folder))


def test_a_right_kernel_is_right_again_and_again(case: Case) -> None:
    trusted = case.judge.trust(case.device.build(case.text), 1)
    for _ in range(2):
        trusted.call.sample()
        case.judge.still_right(trusted)


@pytest.mark.parametrize("name", OUTSIDE)
def test_stores_outside_of_the_outputs_are_seen(case: Case, name: str) -> None:
    (fault,) = (p for p in PLANTED if p.name == name)
    broken = fault.apply(case.text.source)
    assert broken is not None
    built = case.device.build(replace(case.text, source=broken))
    with pytest.raises(Failed, match=OUTSIDE[name]):
        case.judge.trust(built, 1)


def _late(case: Case) -> Trusted:
    """Right at the first run, outside of the array from the second on."""
    (fault,) = (p for p in PLANTED if p.name == "a store behind the array")
    first = "get_group_id(0) == 0 && get_group_id(1) == 0 && get_group_id(2) == 0"
    late = replace(fault, replacement=rf"\1 if ({first} && C[0] == C[0]) C[53 * 59 + 2] = 1.0f;")
    broken = late.apply(case.text.source)
    assert broken is not None
    return case.judge.trust(case.device.build(replace(case.text, source=broken)), 1)


def test_a_store_that_comes_late_is_seen(case: Case) -> None:
    trusted = _late(case)
    trusted.call.sample()
    with pytest.raises(Failed, match="N103"):
        case.judge.still_right(trusted)


def test_runs_in_turns_share_their_arrays_and_a_bad_one_shows(case: Case) -> None:
    right = [case.judge.trust(case.device.build(case.text), 1) for _ in range(2)]
    for call in case.judge.at_one_place(right):
        call.sample()
    assert case.judge.unharmed(right[0])
    for call in case.judge.at_one_place([right[0], _late(case)]):
        call.sample()
    assert not case.judge.unharmed(right[0])
    # each by itself again: the right one is right
    case.judge.still_right(right[1])


def test_regions_begin_where_the_device_lets_them_and_stay_between_bands(case: Case) -> None:
    before = case.judge.trust(case.device.build(case.text), 1).inputs.before
    held = GuardedArrays(case.device, before)
    assert held.in_place
    for name, argument in held.arguments().items():
        assert isinstance(argument, BufferRegion) is not case.device.shares_memory
        if isinstance(argument, BufferRegion):
            assert argument.buffer.offset * 8 % case.device.found.device.mem_base_addr_align == 0
            assert argument.buffer.offset >= 256
            assert argument.buffer.offset + argument.buffer.size + 256 <= argument.around.size
            assert argument.buffer.size == before[name].nbytes


def test_devices_whose_arrays_begin_at_coarse_places(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's align to 512 bytes, others to 4096: more than the guard bands of the host."""

    class Coarse:
        mem_base_addr_align = 4096 * 8

    if case.device.shares_memory:
        pytest.skip("nothing is mirrored")
    monkeypatch.setattr(case.device, "found", replace(case.device.found, device=Coarse()))
    held = GuardedArrays(case.device, case.judge._set(0, ()).before)
    held.fetch()
    assert all(g.intact for g in held.guarded.values())
    for name, argument in held.arguments().items():
        assert argument.buffer.offset % 4096 == 0
        assert held.guarded[name].array.tobytes() == held.before[name].tobytes()
