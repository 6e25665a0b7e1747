import numpy as np

import mdh

mdh.compile("input.c")(300, np.zeros(8, np.int8))
