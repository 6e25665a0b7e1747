"""Old paths of shipped schedules: release 0.1 reads them with a remark, release 0.2 drops this module."""

import os
from pathlib import Path

_NAMES = {"cpu": "generic-cpu", "": "base"}


def moved(path: str) -> str:
    """`schedules/matmul/h200/wide.mdh` for `schedules/matmul.h200.wide.mdh` where only that file is there;
    other paths as they are."""
    folder, stem = Path(path).parent, Path(path).stem
    program, _, rest = stem.partition(".")
    machine, _, variant = rest.partition(".")
    if program == "ccsdt":
        program, variant = "ccsdt_1", f"all.{variant}".rstrip(".")
    place = f"{program}/{_NAMES.get(machine, machine)}/{_NAMES.get(variant, variant)}.mdh"
    new = folder / (place if machine else f"published/{stem}.mdh")
    old = folder.name == "schedules" and not os.path.exists(path)
    return str(new) if old and os.path.isfile(new) else path
