import numpy as np

w = np.ones((3, 3), np.float32)
w[1, 2] = np.nan
np.save("w.npy", w)
