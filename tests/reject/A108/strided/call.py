import numpy as np

import mdh

kernel = mdh.compile("input.c", device="opencl:0")
a, b = (np.ones(8, np.float32) for _ in range(2))
kernel(8, 2.0, a, np.ones(16, np.float32)[::2])
