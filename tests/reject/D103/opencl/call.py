from mdh.ir.kernel import Launch
from mdh.target.text import EntryPoint, KernelText

text = KernelText(
    "saxpy",
    "opencl",
    "x",
    "__kernel void saxpy() { oops; }",
    (EntryPoint("saxpy", "C", Launch((1, 1, 1), (1, 1, 1)), ()),),
    (),
    (),
    (),
)

from mdh.device.opencl_errors import build_failed  # noqa: E402

raise build_failed(text, "a CPU", RuntimeError("input.cl:1:24: error: use of undeclared identifier 'oops'"))
