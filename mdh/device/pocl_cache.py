"""The folder in which PoCL keeps what it compiles.

PoCL loads files from its folder without checking who wrote them and whether they are complete. A damaged file
ends the process or gives wrong results. So PoCL gets a folder of this process alone. Programs are kept
between processes in mdh's own cache, whose entries are complete and belong to this user: one archive for each
program, with its kernels for the work-group sizes that ran.
"""

import atexit
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from threading import Lock

from mdh.device.cache import cache_if_any, key_of, open_cache
from mdh.diagnostics import Failed
from mdh.folders import code_folder, demand_code, filled_own

_VARIABLE = "POCL_CACHE_DIR"
_MOST = 64
"""The most programs that a process puts into mdh's cache; the latest are kept."""
_TOUCHED = "last_accessed"
"""A file that PoCL changes and never reads."""


@dataclass
class PoclFolder:
    """private: whether it belongs to this process alone. kept: for each program built here, its folders and
    the files that they had before."""

    path: Path
    private: bool
    lock: Lock = field(default_factory=Lock)
    kept: dict[str, tuple[frozenset[Path], frozenset[Path]]] = field(default_factory=dict)

    @contextmanager
    def building(self, *parts: str) -> Iterator[None]:
        """Inside, PoCL builds a program that `parts` decide. What an earlier process kept of it is in the
        folder then. Raises OSError if the folder has no room."""
        demand_code(self.path)
        if not self.private:
            yield
            return
        key = key_of("pocl", *parts, *_settings())
        # PoCL builds one program at a time anyway
        with self.lock:
            known = self.kept.pop(key, None)
            found = known[0] if known else self._restored(key)
            had = known[1] if known else _files(found)
            before = self._programs()
            yield
            # if PoCL finds what was kept, no folder is new
            made = frozenset(self._programs() - before)
            self.kept[key] = (made, frozenset()) if made else (found, had)

    def save(self) -> None:
        """Puts what is new into mdh's cache. A cache that cannot be used only costs a later build."""
        new = [(k, folders, had) for k, (folders, had) in self.kept.items() if _files(folders) - had]
        if not new:
            return
        with suppress(Failed, OSError):
            cache = open_cache()
            for key, folders, _ in new[-_MOST:]:
                cache.put(key, self._packed(folders))
            cache.trim()

    def _programs(self) -> set[Path]:
        return {path for path in self.path.glob("*/*") if path.is_dir()}

    def _restored(self, key: str) -> frozenset[Path]:
        """The folders of a kept program, after putting them where PoCL looks; empty if nothing is kept."""
        cache = cache_if_any()
        raw = None if cache is None else cache.get(key)
        if raw is None:
            return frozenset()
        folders: frozenset[Path] = frozenset()
        try:
            with zipfile.ZipFile(BytesIO(raw)) as archive:
                names = archive.namelist()
                folders = frozenset(self.path.joinpath(*Path(name).parts[:2]) for name in names)
                archive.extractall(self.path)
        except (OSError, ValueError, zipfile.BadZipFile):
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)
            return frozenset()
        return folders

    def _packed(self, folders: frozenset[Path]) -> bytes:
        raw = BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(_files(folders)):
                archive.write(path, path.relative_to(self.path))
        return raw.getvalue()


_chosen: list[PoclFolder] = []


def pocl_folder() -> PoclFolder:
    """The folder of this process: that of POCL_CACHE_DIR if it belongs to this user alone, else a private
    one. Raises OSError if there is none."""
    if not _chosen:
        given = _given()
        if given is None:
            path = code_folder() / "pocl"
            path.mkdir(exist_ok=True)
            _chosen.append(PoclFolder(path, private=True))
            # before the folder is removed
            atexit.register(_chosen[0].save)
        else:
            _chosen.append(PoclFolder(given, private=False))
    return _chosen[0]


def _given() -> Path | None:
    with suppress(Failed, OSError):
        if name := os.environ.get(_VARIABLE):
            folder = filled_own(Path(os.path.abspath(name)))
            demand_code(folder)
            return folder
    return None


@contextmanager
def placed() -> Iterator[None]:
    """Inside, PoCL is loaded and asked for its devices, which is when it reads the place of its folder. After
    that the environment is restored, so that child processes take folders of their own. Raises OSError."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = str(pocl_folder().path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def _settings() -> Iterator[str]:
    """Other settings that PoCL reads and that may change what it compiles."""
    return (f"{n}={v}" for n, v in sorted(os.environ.items()) if n.startswith("POCL_") and n != _VARIABLE)


def _files(folders: frozenset[Path]) -> frozenset[Path]:
    every = (path for folder in folders for path in folder.rglob("*"))
    return frozenset(path for path in every if path.name != _TOUCHED and path.is_file())
