import numpy as np

np.save("w.npy", np.ones((300, 300), np.float32))
