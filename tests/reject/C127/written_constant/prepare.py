import numpy as np

np.save("w.npy", np.ones((64, 64), np.float32))
