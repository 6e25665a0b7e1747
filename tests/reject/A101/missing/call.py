import numpy as np

import mdh

text = "def add(float(M,N) A, float(M,N) B) -> (C) { C(i,j) += A(i,j) * B(i,j) }"
mdh.tc(text, device="c").add(np.ones((3, 4), np.float32))
