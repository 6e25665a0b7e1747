import numpy as np

from mdh.device.api import open_device
from mdh.ir.dtype import I32
from mdh.ir.kernel import Launch
from mdh.target.text import BufferArg, EntryPoint, KernelText

source = "__kernel void late(__global int *A)\n{\n    A[4] = 1;\n}\n"
entry = EntryPoint("late", "A", Launch((1, 1, 1), (1, 1, 1)), (BufferArg("A", I32, (4,), 16, False),))
text = KernelText("late", "opencl", "oclgrind", source, (entry,), (), ("A",), ())
open_device("oclgrind").build(text).call({"A": np.zeros(4, np.int32)}, {}).launch()
