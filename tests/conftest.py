"""Options and skips that every test shares."""

import os
import shutil
import subprocess
import zlib
from functools import cache

import pytest
from hypothesis import settings

# NumPy is not yet imported. Matrices of tests are small, and more threads would spin beside other processes.
# A product of 64 x 32 and 32 x 256 numbers then takes 200 times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# how long one example takes says more about a machine that others use too than about mdh
settings.register_profile("mdh", deadline=None)
settings.load_profile("mdh")


@cache
def _gpu_present() -> bool:
    """True when the driver lists an NVIDIA GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return False
    done = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0 and "GPU 0" in done.stdout


# which device is faster here would change what tests do
os.environ.setdefault("MDH_DEVICE", "cuda:0" if _gpu_present() else "opencl:0")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected texts")
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="of each test's cases, run the first and one in N more",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


CHEAP = ("test_reject.py", "test_docs.py", "test_limits.py", "test_layering.py")
"""Cases that take no time, and of which each stands for itself."""


def _sampled(config: pytest.Config, items: list[pytest.Item], n: int) -> None:
    """Leave out cases of tests that have many. Which ones depends on their names alone, so that a commit has
    one verdict."""
    seen: set[str] = set()
    kept, left_out = [], []
    for item in items:
        test = item.nodeid.partition("[")[0]
        first = test not in seen
        seen.add(test)
        whole = item.path.name in CHEAP or "gpu" in item.keywords
        keep = first or whole or zlib.crc32(item.nodeid.encode()) % n == 0
        (kept if keep else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--sample") > 1:
        _sampled(config, items, config.getoption("--sample"))
    marked = [item for item in items if "gpu" in item.keywords]
    if marked and not _gpu_present():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU here"))
