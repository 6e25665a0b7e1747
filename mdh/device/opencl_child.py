"""The process that Oclgrind watches: `python -m mdh.device.opencl_child FOLDER` runs FOLDER/job.json.

Raw bytes of array X are in X.npy, and a written one goes to X.out.npy. If the build is refused, it writes
build.log and exits with 3.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from mdh.device.opencl_door import cl
from mdh.device.opencl_platforms import oclgrind_device

BUILD_FAILED = 3


def carry_out(folder: Path) -> int:
    found = oclgrind_device()
    if found is None:
        sys.stderr.write("the Oclgrind platform is not there\n")
        return 1
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    context = cl.Context([found.device])
    queue = cl.CommandQueue(context)
    try:
        source = (folder / "kernels.cl").read_text(encoding="utf-8")
        program = cl.Program(context, source).build(options=job["options"])
    except cl.Error as error:
        (folder / "build.log").write_text(str(error), encoding="utf-8")
        return BUILD_FAILED
    buffers = _buffers(context, queue, folder, job)
    for k in job["kernels"]:
        if k["clear"]:
            _clear(queue, buffers, job)
        kernel = cl.Kernel(program, k["name"])
        kernel.set_args(*(_argument(a, buffers) for a in k["args"]))
        cl.enqueue_nd_range_kernel(queue, kernel, k["global"], k["local"])
        queue.finish()
    for name, written in job["arrays"].items():
        if written:
            raw = np.load(folder / f"{name}.npy", allow_pickle=False)
            cl.enqueue_copy(queue, raw, buffers[name])
            np.save(folder / f"{name}.out.npy", raw, allow_pickle=False)
    return 0


def _buffers(context: Any, queue: Any, folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    flags = cl.mem_flags
    out = {}
    for name, written in job["arrays"].items():
        access = flags.READ_WRITE if written else flags.READ_ONLY
        held = np.load(folder / f"{name}.npy", allow_pickle=False)
        out[name] = cl.Buffer(context, access | flags.COPY_HOST_PTR, hostbuf=held)
    for name, size, _ in job["workspaces"]:
        out[name] = cl.Buffer(context, flags.READ_WRITE, size)
    _clear(queue, out, job)
    return out


def _clear(queue: Any, buffers: dict[str, Any], job: dict[str, Any]) -> None:
    """Workspaces that begin as zeros."""
    for name, size, zero in job["workspaces"]:
        if zero:
            cl.enqueue_fill_buffer(queue, buffers[name], np.uint8(0), 0, size)


def _argument(given: Any, buffers: dict[str, Any]) -> Any:
    if isinstance(given, str):
        return buffers[given]
    dtype, raw = given
    return np.frombuffer(bytes.fromhex(raw), dtype)[0]


if __name__ == "__main__":
    sys.exit(carry_out(Path(sys.argv[1])))
