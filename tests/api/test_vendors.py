"""OpenCL drivers that no system registers are found."""

import os
from pathlib import Path

import pytest

from mdh.device import opencl_vendors
from mdh.device.opencl_vendors import vendors


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of folders: `data` for wheels, `system` for registered drivers, `cache`; no GPU."""
    for name in ("data/lib", "system", "cache"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(opencl_vendors, "SYSTEM", tmp_path / "system")
    monkeypatch.setattr(opencl_vendors, "_libraries", lambda: tmp_path / "data/lib")
    monkeypatch.setattr(opencl_vendors, "_loads", lambda _: False)
    return tmp_path


def named(found: str | None) -> list[str]:
    return [] if found is None else [p.read_text().strip() for p in sorted(Path(found).iterdir())]


def intel(machine: Path, *libraries: str) -> None:
    for library in libraries:
        (machine / "data/lib" / library).touch()


def test_nothing_to_add(machine: Path) -> None:
    (machine / "system/some.icd").write_text("libsome.so\n")
    assert vendors() is None


def test_intels_wheel_joins_the_system(machine: Path) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    (machine / "system/some.icd").write_text("libsome.so\n")
    assert named(vendors()) == ["libsome.so", str(machine / "data/lib/libintelocl.so")]
    assert named(vendors()) == named(vendors())


def test_intels_wheel_needs_its_libraries(machine: Path) -> None:
    intel(machine, "libintelocl.so")
    assert vendors() is None


def test_a_driver_without_registration(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_vendors, "_loads", lambda _: True)
    assert named(vendors()) == ["libnvidia-opencl.so.1"]


def test_a_driver_without_registration_comes_last(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_vendors, "_loads", lambda _: True)
    (machine / "system/pocl.icd").write_text("libpocl.so\n")
    assert named(vendors()) == ["libpocl.so", "libnvidia-opencl.so.1"]


def test_a_registered_driver_is_not_named_twice(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_vendors, "_loads", lambda _: True)
    (machine / "system/nvidia.icd").write_text("/usr/lib/libnvidia-opencl.so.580\n")
    assert vendors() is None


def test_what_the_user_set_stays(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    monkeypatch.setenv("OCL_ICD_VENDORS", "mine")
    assert vendors() is None


def test_no_folder_can_be_written(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    (machine / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "file"))
    assert named(vendors()) == [str(machine / "data/lib/libintelocl.so")]
    monkeypatch.setattr("mdh.folders._made", {})
    monkeypatch.setattr("tempfile.tempdir", str(machine / "missing"))
    assert vendors() is None


def test_what_a_full_disk_left_is_written_anew(machine: Path) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    folder = Path(vendors() or "")
    (folder / "0.icd").write_text("")
    assert named(vendors()) == [str(machine / "data/lib/libintelocl.so")]


def test_a_further_driver_in_the_folder_is_not_loaded(machine: Path) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    folder = Path(vendors() or "")
    (folder / "9.icd").write_text("libother.so\n")
    assert named(vendors()) == [str(machine / "data/lib/libintelocl.so")]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files to others")
def test_a_folder_of_somebody_else_is_not_used(machine: Path) -> None:
    intel(machine, "libintelocl.so", "libimf.so")
    folder = Path(vendors() or "")
    (folder / "0.icd").write_text("libother.so\n")
    for path in (folder / "0.icd", folder):
        os.chown(path, 65534, 65534)
    assert vendors() not in (None, str(folder))
    assert named(vendors()) == [str(machine / "data/lib/libintelocl.so")]
