import errno
from unittest.mock import patch

from mdh.device import c_compiler
from mdh.device.api import open_device
from mdh.device.c import CDevice
from mdh.target.text import KernelText

device = open_device("c")
assert isinstance(device, CDevice)
# a full disk is not at hand everywhere
full = OSError(errno.ENOSPC, "No space left on device")
with patch.object(c_compiler, "scratch", side_effect=full), patch("tempfile.tempdir", "/mnt/full"):
    device.build(KernelText("scale", "c", "generic-cpu", "", (), (), (), ()))
