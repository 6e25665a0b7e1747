import asyncio
import sys

from mdh.results.trial import Job
from mdh.tuner.measure.local import LocalBench

python, sys.executable = sys.executable, "missing"
try:
    asyncio.run(LocalBench(Job("scale.c", "")).__aenter__())
finally:
    sys.executable = python
