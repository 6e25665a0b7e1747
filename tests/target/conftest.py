"""The target tests run OpenCL texts on the CPU runtime (`pocl`), some also under the checking simulator."""

import pytest

from tests.target.opencl_runner import Run, run_opencl


@pytest.fixture(params=["Portable", "Oclgrind"])
def opencl(request: pytest.FixtureRequest) -> Run:
    return lambda text, values: run_opencl(text, values, request.param)


@pytest.fixture
def pocl() -> Run:
    return run_opencl
