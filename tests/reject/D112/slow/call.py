import numpy as np

from mdh.device.oclgrind import Oclgrind
from mdh.ir.dtype import I32
from mdh.ir.kernel import Launch
from mdh.target.text import BufferArg, EntryPoint, KernelText

source = "__kernel void spin(__global volatile int *A)\n{\n    while (A[0] == 0) {}\n}\n"
entry = EntryPoint("spin", "A", Launch((1, 1, 1), (1, 1, 1)), (BufferArg("A", I32, (4,), 16, False),))
text = KernelText("spin", "opencl", "oclgrind", source, (entry,), (), ("A",), ())
Oclgrind(timeout=1.0).build(text).call({"A": np.zeros(4, np.int32)}, {}).launch()
