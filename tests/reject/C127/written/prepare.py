import numpy as np

np.save("C.npy", np.ones((3, 4), np.float32))
