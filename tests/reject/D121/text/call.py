from mdh.ir.kernel import Launch
from mdh.target.text import EntryPoint, KernelText

text = KernelText(
    "saxpy", "cuda", "x", "oops", (EntryPoint("saxpy", "C", Launch((1, 1, 1), (1, 1, 1)), ()),), (), (), ()
)

from mdh.target.nvrtc import _refused  # noqa: E402

raise _refused(
    text, "sm_90a", "saxpy.cu(1): error: this declaration has no storage class or type specifier", "refuses"
)
