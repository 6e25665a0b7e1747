import os
from pathlib import Path

from mdh.device.api import open_device

# a compiler that starts, and knows no OpenMP
fake = Path("fakecc")
fake.write_text('#!/bin/sh\necho "#define __STDC__ 1"\n', encoding="utf-8")
fake.chmod(0o755)
kept = os.environ.get("CC")
os.environ["CC"] = "./fakecc"
try:
    open_device("c")
finally:
    if kept is None:
        del os.environ["CC"]
    else:
        os.environ["CC"] = kept
