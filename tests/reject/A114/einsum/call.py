import pytest

import mdh

torch = pytest.importorskip("torch")
w, x = torch.ones(4, 4, requires_grad=True), torch.ones(4, 4)
with torch.no_grad():
    mdh.einsum("ij,jk->ik", w, x, device="c")
mdh.einsum("ij,jk->ik", w, x, device="c")
