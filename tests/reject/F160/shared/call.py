from pathlib import Path

from mdh.device.cache import open_cache

place = Path("shared")
place.mkdir()
place.chmod(0o777)
open_cache(place)
