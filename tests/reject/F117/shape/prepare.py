import numpy as np

np.save("a.npy", np.zeros((2, 4), np.float32))
