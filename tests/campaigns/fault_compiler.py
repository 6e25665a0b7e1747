"""A compiler, or the linker that PoCL starts, which fails as it is told to."""

import os
import shutil
from pathlib import Path

WRAPPER = """#!/bin/sh
what=
case "$*" in *-shared*)
  for t in {control}/*.token; do
    if mv "$t" "$t.$$" 2>/dev/null; then what=$(cat "$t.$$"); rm "$t.$$"; break; fi
  done ;;
esac
case "$what" in
  killed) kill -9 $$ ;;
  terminated) kill -15 $$ ;;
  crashed) kill -11 $$ ;;
  silent) exit 1 ;;
  nothing) exit 0 ;;
  space) echo "/tmp/x.s: Fatal error: can't write: No space left on device" >&2; exit 1 ;;
  fork) echo "cc: fatal error: cannot execute 'cc1': vfork: Resource temporarily unavailable" >&2; exit 1 ;;
  child) echo "cc: fatal error: Killed signal terminated program cc1" >&2; exit 1 ;;
  sleeps) sleep 1000; exit 1 ;;
esac
exec {real} "$@"
"""
"""Takes a word from the first file NAME.token that it finds in a folder, and does what that says."""
TOKENS = ("killed", "terminated", "crashed", "silent", "nothing", "space", "fork", "child")


def wrap(base: Path, control: Path, device: str) -> None:
    """From now on, for processes that this one starts. control: the folder of tokens."""
    script = base / "cc"
    if device == "opencl:0":
        (base / "bin").mkdir()
        script = base / "bin" / "ld"
        os.environ["PATH"] = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    else:
        os.environ["CC"] = str(script)
    real = shutil.which(script.name, path=os.defpath + os.pathsep + os.environ["PATH"])
    script.write_text(WRAPPER.format(control=control, real=real), encoding="utf-8")
    script.chmod(0o755)
