import numpy as np

np.save("w.npy", np.ones((3, 4), np.float32))
