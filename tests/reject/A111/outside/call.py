import numpy as np

import mdh

x, y = np.ones(12, np.float32), np.zeros(12, np.float32)
mdh.compile("input.c", device="c", defines={"n": mdh.open(8, 64, 8)})(12, 2.0, x, y)
