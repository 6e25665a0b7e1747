import mdh.target.nvrtc as door
from mdh.target.text import KernelText

kept, door.architectures = door.architectures, lambda: ("sm_80", "sm_90a")
kept_library, door._library = door._library, lambda: None
try:
    door.compile_cubin(KernelText("saxpy", "cuda", "x", "", (), (), (), ()), "sm_10")
finally:
    door.architectures, door._library = kept, kept_library
