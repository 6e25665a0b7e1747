import numpy as np

np.save("a.npy", np.zeros(8))
