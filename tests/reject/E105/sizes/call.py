import numpy as np

import mdh

mdh.einsum("ij,jk->ik", np.ones((3, 4), np.float32), np.ones((5, 6), np.float32))
