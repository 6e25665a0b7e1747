from mdh.device.opencl_door import missing

raise missing("no platform has a device")
