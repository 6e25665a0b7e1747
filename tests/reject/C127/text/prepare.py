import numpy as np

np.save("C.npy", np.array(["a", "b"]))
