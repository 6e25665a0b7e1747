"""The libraries that a GPU process needs, imported here alone, and the stream that all its work goes to."""

import os
from importlib import import_module
from typing import Any

# before cupy is imported, which reads it then
os.environ.setdefault("CUPY_ACCELERATORS", "cub,cutensor")
cupy: Any = import_module("cupy")
torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

PLACE = "cuda"
"""Where torch is to put its tensors."""
Tensors = dict[str, Any]


class _Handle:
    """torch's stream in the protocol of CUDA streams."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def one_stream() -> tuple[Any, Any]:
    """Makes a stream the current one of torch and cupy: theirs, which must both live on. Single precision is
    to mean just that."""
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    if hasattr(cupy.cuda.Stream, "from_external"):
        outer = cupy.cuda.Stream.from_external(_Handle(stream.cuda_stream))
    else:
        outer = cupy.cuda.ExternalStream(stream.cuda_stream)
    outer.use()
    return stream, outer


def versions() -> dict[str, str]:
    cudnn = torch.backends.cudnn.version()
    return {
        "torch": f"{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {cudnn}",
        "cupy": str(cupy.__version__),
    }
