import numpy as np

np.save("C.npy", np.ones((40, 40, 40), np.float32))
