import numpy as np

import mdh

mdh.tc("def f(float(M) A) -> (B) { B(i) = A(i) }", device="c").f(np.ones((7, 5), np.float32))
