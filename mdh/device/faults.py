"""The faults of a device's compiler and runtime: those that a self-test found, or else the known ones."""

import json
from dataclasses import replace

from mdh.device.cache import cache_if_any, key_of
from mdh.device.protocols import Device
from mdh.target.faults import ASSUMED, NONE, CompilerFaults, Fault

SCHEMA = "mdh.faults/2"


def faults_of(device: Device) -> CompilerFaults:
    """The faults for `emit`; this reads at most a small file. C texts always avoid all known faults, because
    they may be built elsewhere."""
    known = ASSUMED.get(device.target, NONE)
    found = remembered(device)
    if found is None:
        return known
    return replace(found, kinds=found.kinds | known.kinds)


def remembered(device: Device) -> CompilerFaults | None:
    """The faults that a self-test of this device with these versions found; None if there was none."""
    cache = cache_if_any()
    payload = None if cache is None else cache.get(fault_key(device))
    if payload is None:
        return None
    try:
        return faults_from(json.loads(payload))
    except (ValueError, KeyError, TypeError):
        return None


def remember(device: Device, faults: CompilerFaults) -> bool:
    """Keeps the faults. False if that failed; then the next self-test finds them again."""
    cache = cache_if_any()
    return cache is not None and cache.put(fault_key(device), json.dumps(faults_json(faults)).encode())


def faults_json(faults: CompilerFaults) -> dict[str, list[str]]:
    return {"kinds": sorted(faults.kinds), "lanes": sorted(faults.lanes)}


def faults_from(said: dict[str, list[str]]) -> CompilerFaults:
    """Reads faults. Raises ValueError, KeyError or TypeError if `faults_json` did not write them."""
    return CompilerFaults(frozenset(Fault(k) for k in said["kinds"]), frozenset(map(str, said["lanes"])))


def fault_key(device: Device) -> str:
    """A key for the device, its compiler and its runtime. A new version of one counts as untested."""
    told = (part for pair in device.versions for part in pair)
    identity = getattr(device, "identity", ())
    return key_of(SCHEMA, device.target, device.title, *told, *identity)
