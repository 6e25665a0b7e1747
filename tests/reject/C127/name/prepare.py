import numpy as np

np.save("w.npy", np.ones((3, 3), np.float32))
