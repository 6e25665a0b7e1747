import asyncio
import tempfile

from mdh.tune.measure.local import LocalBench
from mdh.tune.values import Job

tempfile.tempdir = "missing"
asyncio.run(LocalBench(Job("scale.c", "")).__aenter__())
