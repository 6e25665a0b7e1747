import numpy as np

import mdh

indices = np.full(8, 4, np.int32)
mdh.compile("input.c", device="opencl:0")(indices, np.zeros(4, np.int32))
