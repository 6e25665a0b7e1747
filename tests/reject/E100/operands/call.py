import numpy as np

import mdh

mdh.einsum("ij,jk->ik", np.ones((4, 4), np.float32))
