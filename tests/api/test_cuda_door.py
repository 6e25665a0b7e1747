"""What cupy cannot be loaded for is said; it ends no command that needs none."""

import pytest

from mdh.device import cuda
from mdh.diagnostics import Failed


def test_without_a_folder_for_its_files_cupy_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise NotADirectoryError(20, "Not a directory", f"/dev/null/{name}")

    monkeypatch.setattr(cuda, "import_module", load)
    library, why = cuda._load()
    monkeypatch.setattr(cuda, "cupy", library)
    monkeypatch.setattr(cuda, "_WHY", why)
    with pytest.raises(
        Failed, match="D106: CUDA cannot be used here: cupy has no place for its files: not a dir"
    ):
        cuda.list_family()
