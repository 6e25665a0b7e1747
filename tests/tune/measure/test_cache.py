"""The cache of machine code: damage is a miss, strangers' folders are refused, nothing else is removed."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest

from mdh.cli.main import run
from mdh.device.cache import Cache, key_of, open_cache
from mdh.diagnostics import Failed
from mdh.folders import cache_home

KEY = key_of("cubin", "sm_90a", "text")
PAYLOAD = bytes(range(256)) * 3


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return open_cache(tmp_path / "mdh")


def _entry(cache: Cache) -> Path:
    return next(cache.folder.glob("*/*.bin"))


def test_what_was_put_is_found(cache: Cache) -> None:
    assert cache.get(KEY) is None
    assert cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) == PAYLOAD
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    cache.drop(KEY)
    assert cache.get(KEY) is None


def test_a_cut_entry_is_a_miss_and_goes(cache: Cache) -> None:
    cache.put(KEY, PAYLOAD)
    raw = _entry(cache).read_bytes()
    for size in range(len(raw)):
        path = cache.folder / KEY[:2] / f"{KEY}.bin"
        path.write_bytes(raw[:size])
        assert cache.get(KEY) is None
        assert not path.exists()


def test_a_flipped_bit_is_a_miss_or_no_change(cache: Cache) -> None:
    cache.put(KEY, PAYLOAD)
    path = _entry(cache)
    raw = path.read_bytes()
    for bit in range(0, 8 * len(raw), 3):
        broken = bytearray(raw)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        assert cache.get(KEY) in (None, PAYLOAD)


def test_parts_of_a_key_are_kept_apart() -> None:
    assert key_of("ab", "c") != key_of("a", "bc") != key_of("abc")


def test_trim_keeps_what_was_used_last(cache: Cache) -> None:
    keys = [key_of(str(i)) for i in range(4)]
    for age, key in enumerate(keys):
        cache.put(key, PAYLOAD)
        os.utime(cache.folder / key[:2] / f"{key}.bin", (1000 - age, 1000 - age))
    one = cache.usage().bytes // 4
    assert cache.get(keys[3]) == PAYLOAD
    assert cache.trim(2 * one) == 2
    assert [cache.get(k) is not None for k in keys] == [True, False, False, True]


def test_clear_removes_entries_alone(cache: Cache) -> None:
    cache.put(KEY, PAYLOAD)
    (cache.folder / "note.txt").write_text("mine")
    (cache.folder / KEY[:2] / "other.bin").write_text("mine")
    assert cache.clear().entries == 1
    assert (cache.folder / "note.txt").exists()
    assert (cache.folder / KEY[:2] / "other.bin").exists()


def test_one_process_at_a_time_makes_an_entry(cache: Cache) -> None:
    """A killed one holds nobody up, and no file is left."""
    program = f"""
import sys, time
from pathlib import Path
from mdh.device.cache import open_cache
cache = open_cache(Path({str(cache.folder)!r}))
with cache.alone({KEY!r}):
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        begun = monotonic()
        Timer(0.3, holder.kill).start()
        with cache.alone(KEY):
            assert 0.2 < monotonic() - begun < 20.0
    assert not list((cache.folder / "locks").iterdir())


def test_where_no_lock_can_be_had_nobody_waits(cache: Cache) -> None:
    (cache.folder / "locks").touch()
    with cache.alone(KEY), cache.alone(KEY):
        assert cache.put(KEY, PAYLOAD)


def test_a_full_disk_costs_nothing_but_the_entry(cache: Cache) -> None:
    (cache.folder / KEY[:2]).write_text("a file where the folder should be")
    assert not cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(Failed, match="F160"):
        open_cache(tmp_path)


def test_a_file_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "mdh").write_text("")
    with pytest.raises(Failed, match="F160"):
        open_cache(tmp_path / "mdh")


def test_the_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "mdh"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_home() == Path.home() / ".cache" / "mdh"


def test_the_verb_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    open_cache().put(KEY, PAYLOAD)
    assert run(["cache"]) == 0
    assert "1 entry" in capsys.readouterr().out
    assert run(["cache", "clear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 1
    assert run(["cache", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 0
    assert run(["cache", "burn"]) == 2
