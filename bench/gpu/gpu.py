"""The libraries that a GPU process needs, imported here alone, and the stream that all its work goes to."""

import os
from importlib import import_module
from typing import Any

from mdh.device.cuda_bound import stream_of

# before cupy is imported, which reads it then
os.environ.setdefault("CUPY_ACCELERATORS", "cub,cutensor")
cupy: Any = import_module("cupy")
torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

PLACE = "cuda"
"""Where torch is to put its tensors."""
Tensors = dict[str, Any]


def one_stream() -> tuple[Any, Any]:
    """Makes a stream the current one of torch and cupy: theirs, which must both live on. Single precision is
    to mean just that."""
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    outer = stream_of(cupy, stream.cuda_stream, torch.cuda.current_device())
    outer.use()
    return stream, outer


def versions() -> dict[str, str]:
    cudnn = torch.backends.cudnn.version()
    return {
        "torch": f"{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {cudnn}",
        "cupy": str(cupy.__version__),
    }
