import numpy as np

np.save("i.npy", np.array([0, 7, 8, 1], np.int32))
