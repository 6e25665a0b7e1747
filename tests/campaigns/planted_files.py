"""Plants files as the user `nobody` in folders that several users share, runs mdh, and says what was trusted.

Each plant shows itself: code leaves a file behind, data shows up in what mdh reads. `--probe NAME FOLDER` is
the process of the victim, which prints what it found.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mdh.cli.main import run as mdh_main
from mdh.cost.prediction import NOMINAL
from mdh.device import cuda_cache
from mdh.device.cache import SCHEMA, key_of, open_cache
from mdh.device.opencl_vendors import _folder as icd_folder
from mdh.device.pocl_cache import PoclFolder
from mdh.diagnostics import Failed
from mdh.folders import code_folder, make_private, own_folder, private_folder
from mdh.ir.kernel import Launch
from mdh.target.kept import keep_refused
from mdh.target.text import EntryPoint, KernelText
from mdh.tuner.warm_start import learned

ROOT = Path(__file__).resolve().parents[2]
NOBODY, SECOND = 65534, 12345
KEY, DRIVER = key_of("planted"), "libown.so"
KIND = next(iter(NOMINAL))
TEXT = KernelText(
    "late", "c", "x", "int x;", (EntryPoint("late", "C", Launch((1, 1, 1), (1, 1, 1)), ()),), (), (), ()
)
RUN = ["run", str(ROOT / "inputs_c/dot.c"), "-D", "K=100", "--device", "opencl:0", "--repeat", "0"]
EVIL = "__attribute__((constructor)) static void f(void) { open(MARK, 0101, 0666); }"


@dataclass(frozen=True, slots=True)
class Plant:
    """what: in words; lay: plants it below the shared folder (1777); ask: in the victim's process, whether it
    was trusted. own: the victim's own cache folder is there already."""

    what: str
    lay: Callable[[Path], None]
    ask: Callable[[Path], bool]
    own: bool = False


def entry(payload: bytes) -> bytes:
    head = {"schema": SCHEMA, "key": KEY, "sha256": sha256(payload).hexdigest(), "bytes": len(payload)}
    return json.dumps(head).encode() + b"\n" + payload


def icd(shared: Path) -> Path:
    return shared / f"mdh/icd-{sha256(DRIVER.encode()).hexdigest()[:16]}"


def write(path: Path, data: bytes = b"planted") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def link(path: Path, to: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


def model(shared: Path) -> Path:
    return shared / "mdh/model/planted.json"


def data() -> bytes:
    times = [{"terms": [[1.0] * len(NOMINAL[KIND].weights)], "seconds": 1.0}]
    said = {"schema": learned.SCHEMA, "kind": KIND, "programs": [{"about": "p", "times": times}]}
    return json.dumps(said).encode()


def cached(shared: Path) -> bool:
    try:
        return open_cache().get(KEY) is not None
    except Failed:
        return False


def drivers(shared: Path) -> bool:
    found = icd_folder([DRIVER])
    return found is not None and any(p.read_text() != f"{DRIVER}\n" for p in Path(found).glob("*.icd"))


def refused(shared: Path) -> bool:
    keep_refused(TEXT, "said")
    return (shared / "victim").read_text() != "mine"


def pocl(shared: Path) -> bool:
    folder = code_folder() / "pocl"
    folder.mkdir(exist_ok=True)
    place = PoclFolder(folder, private=True)
    with place.building():
        return any(folder.rglob("planted"))


def variable(name: str, keep: Callable[[], None]) -> Callable[[Path], bool]:
    def ask(shared: Path) -> bool:
        cuda_cache._DRIVER = Path("/")
        os.environ[name] = str(shared / "theirs")
        keep()
        return os.environ[name] == str(shared / "theirs")

    return ask


def swept(shared: Path) -> bool:
    private_folder()
    return not (shared / "victim").exists() or not (shared / "mdh-planted/file").exists()


def swept_link(shared: Path) -> bool:
    private_folder()
    return not (shared / "victim").exists()


def temporary(name: str) -> Callable[[Path], bool]:
    def ask(shared: Path) -> bool:
        try:
            make_private(shared / name)
        except OSError:
            return False
        return True

    return ask


def through_link(shared: Path) -> bool:
    """Whether what is used later goes by way of the link, which may lead elsewhere then."""
    return (shared / "link") in own_folder(shared / "link" / "mdh").parents


def opened(folder: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)


def run_anyhow() -> int:
    return subprocess.run([sys.executable, "-m", "mdh", *RUN], capture_output=True, check=False).returncode


def run(shared: Path) -> bool:
    """A program is run in this process; planted code shows itself by a file."""
    status = mdh_main(RUN)
    assert status == 0, status
    return (shared / "ran").exists()


def run_homeless(shared: Path) -> bool:
    for name in ("HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    return run(shared)


def run_told(shared: Path) -> bool:
    os.environ["POCL_CACHE_DIR"] = str(shared / "theirs")
    return run(shared)


def pocl_entries(place: Callable[[Path], Path]) -> Callable[[Path], None]:
    """What PoCL itself keeps of the program that is run later, with other code in its libraries."""

    def lay(shared: Path) -> None:
        folder = place(shared)
        folder.mkdir(parents=True)
        folder.chmod(0o700)
        for above in (folder, *folder.parents[:1]):
            if above != shared and above != Path("/tmp"):
                above.chmod(0o700)
        os.environ["POCL_CACHE_DIR"] = str(folder)
        assert run_anyhow() == 0
        evil, source = shared / "evil.so", shared / "evil.c"
        source.write_text(f'#include <fcntl.h>\n#define MARK "{shared}/ran"\n{EVIL}\n')
        subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(evil)], check=True)
        for library in folder.rglob("*.so"):
            shutil.copy(evil, library)
        # the plant works: in a folder of one's own it runs
        run_anyhow()
        assert (shared / "ran").exists(), "PoCL did not load what was planted"
        (shared / "ran").unlink()
        del os.environ["POCL_CACHE_DIR"]

    return lay


PLANTS = {
    "icd-folder": Plant("folder of drivers", lambda s: write(icd(s) / "0.icd", b"libevil.so\n"), drivers),
    "icd-own": Plant(
        "folder of drivers in an own cache", lambda s: write(icd(s) / "0.icd", b"e"), drivers, True
    ),
    "cache": Plant(
        "cache with an entry", lambda s: write(s / f"mdh/{KEY[:2]}/{KEY}.bin", entry(b"x")), cached
    ),
    "fan-out": Plant(
        "entry in an own cache", lambda s: write(s / f"mdh/{KEY[:2]}/{KEY}.bin", entry(b"x")), cached, True
    ),
    "entry-link": Plant(
        "link as entry",
        lambda s: (write(s / "e", entry(b"x")), link(s / f"mdh/{KEY[:2]}/{KEY}.bin", s / "e"))[1],
        cached,
        True,
    ),
    "cache-link": Plant(
        "link as cache",
        lambda s: (write(s / f"o/{KEY[:2]}/{KEY}.bin", entry(b"x")), link(s / "mdh", s / "o"))[1],
        cached,
    ),
    "model": Plant(
        "model", lambda s: write(model(s), data()), lambda s: bool(learned.load(model(s), KIND).programs)
    ),
    "model-own": Plant(
        "model in an own cache",
        lambda s: write(model(s), data()),
        lambda s: bool(learned.load(model(s), KIND).programs),
        True,
    ),
    "model-link": Plant(
        "link as model",
        lambda s: (write(s / "m", data()), link(model(s), s / "m"))[1],
        lambda s: bool(learned.load(model(s), KIND).programs),
        True,
    ),
    "refused": Plant(
        "folder of refused texts",
        lambda s: link(s / f"mdh/refused/late-{TEXT.digest[:12]}.c", s / "victim"),
        refused,
        True,
    ),
    "refused-all": Plant(
        "cache with a link as refused text",
        lambda s: link(s / f"mdh/refused/late-{TEXT.digest[:12]}.log", s / "victim"),
        refused,
    ),
    "tmp-text": Plant(
        "link where texts were kept",
        lambda s: link(s / f"mdh-late-{TEXT.digest[:12]}.c", s / "victim"),
        refused,
    ),
    "tmp-folder": Plant(
        "folder like a private one",
        lambda s: (write(s / "mdh-planted/file"), link(s / "mdh-planted/owner", s / "victim"))[1],
        swept,
    ),
    "tmp-link": Plant("link like a private folder", lambda s: link(s / "mdh-other", s), swept_link),
    "tmp-code": Plant("code in the temporary folder", lambda s: write(s / "pocl/AB/planted"), pocl),
    "tmp-theirs": Plant(
        "temporary folder of the other user", lambda s: opened(s / "theirs", 0o1777), temporary("theirs")
    ),
    "tmp-below": Plant(
        "temporary folder below one of the other user",
        lambda s: opened(s / "theirs/tmp", 0o1777),
        temporary("theirs/tmp"),
    ),
    "link-above": Plant("link above a cache", lambda s: link(s / "link", s / "mdh"), through_link, True),
    "cupy": Plant(
        "CUPY_CACHE_DIR",
        lambda s: write(s / "theirs/x"),
        variable("CUPY_CACHE_DIR", cuda_cache.keep_cupy_safe),
    ),
    "nvidia": Plant(
        "CUDA_CACHE_PATH",
        lambda s: write(s / "theirs/x"),
        variable("CUDA_CACHE_PATH", cuda_cache.keep_driver_safe),
    ),
    "pocl-xdg": Plant("PoCL's folder below XDG_CACHE_HOME", pocl_entries(lambda s: s / "pocl/kcache"), run),
    "pocl-told": Plant("POCL_CACHE_DIR", pocl_entries(lambda s: s / "theirs"), run_told),
    "pocl-taken": Plant("an own POCL_CACHE_DIR", pocl_entries(lambda s: s / "theirs"), run_told),
    "pocl-tmp": Plant(
        "/tmp/pocl, without a home", pocl_entries(lambda s: Path("/tmp/pocl/kcache")), run_homeless
    ),
}


def planted(name: str, user: int, base: Path) -> str:
    """`trusted`, `no`, or why it is not known."""
    plant, shared = PLANTS[name], base / f"{name}-{user}"
    shared.mkdir()
    shared.chmod(0o1777)
    with suppress(FileNotFoundError):
        if name == "pocl-tmp" and Path("/tmp/pocl").exists():
            return "not tried: /tmp/pocl is there"
    plant.lay(shared)
    for path in (*shared.rglob("*"), *(Path("/tmp/pocl").rglob("*") if name == "pocl-tmp" else ())):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    if name == "pocl-tmp":
        os.chown("/tmp/pocl", NOBODY, NOBODY)
    if plant.own:
        (shared / "mdh").mkdir(mode=0o700, exist_ok=True)
        os.chown(shared / "mdh", user, user)
        (shared / "mdh").chmod(0o755)
    if name == "pocl-taken":
        # a folder that was open to others once
        os.chown(shared / "theirs", user, user)
    (shared / "victim").write_text("mine")
    os.chown(shared / "victim", user, user)
    found = {
        **os.environ, "XDG_CACHE_HOME": str(shared), "TMPDIR": str(shared), "HOME": str(shared),
        "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    found.pop("POCL_CACHE_DIR", None)
    drop = [] if user == 0 else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    command = [*drop, sys.executable, __file__, "--probe", name, str(shared)]
    try:
        done = subprocess.run(command, env=found, capture_output=True, text=True, check=False, cwd=shared)
    finally:
        if name == "pocl-tmp":
            shutil.rmtree("/tmp/pocl", ignore_errors=True)
    said = done.stdout.split()[-1:]
    return said[0] if done.returncode == 0 and said else f"failed: {done.stderr.strip()[-300:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", nargs=2, metavar=("NAME", "FOLDER"))
    parser.add_argument("--quick", action="store_true", help="without the plants that run a program")
    parser.add_argument("--users", type=int, nargs="+", default=[0, SECOND])
    given = parser.parse_args()
    if given.probe:
        sys.stdout.write("\ntrusted\n" if PLANTS[given.probe[0]].ask(Path(given.probe[1])) else "\nno\n")
        return 0
    if os.getuid() != 0:
        parser.error("only root may give files to others")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name, plant in PLANTS.items():
            if given.quick and name.startswith("pocl-"):
                continue
            said = [planted(name, user, Path(folder)) for user in given.users]
            wrong += any(one != "no" for one in said)
            row = "  ".join(f"user {u}: {s}" for u, s in zip(given.users, said, strict=True))
            sys.stdout.write(f"{plant.what:<46} {row}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{wrong} plants were trusted or not known\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
