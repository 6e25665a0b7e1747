import asyncio
import tempfile

from mdh.results.trial import Job
from mdh.tuner.measure.local import LocalBench

tempfile.tempdir = "missing"
asyncio.run(LocalBench(Job("scale.c", "")).__aenter__())
