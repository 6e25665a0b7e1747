import asyncio
import sys

from mdh.tune.measure.local import LocalBench
from mdh.tune.values import Job

python, sys.executable = sys.executable, "missing"
try:
    asyncio.run(LocalBench(Job("scale.c", "")).__aenter__())
finally:
    sys.executable = python
