import numpy as np

np.save("C.npy", np.ones(8, np.float32))
with open("C.npy", "ab") as file:
    file.write(b"more")
