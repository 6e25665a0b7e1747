import numpy as np

np.save("C.npy", np.zeros((3, 4), [("a", "f4"), ("b", "i4")]))
