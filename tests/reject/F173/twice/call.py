from mdh.tuner.records.file import Record
from mdh.tuner.records.header import Header


def header(size: int) -> Header:
    arrays = f"A f32 {size}x{size}"
    return Header(
        program="scale", schedule="", sizes=(("N", size),), types=(("A", f"f32[{size}][{size}]"),),
        device="NVIDIA H200", machine="h200", target="cuda", parts=(("arrays", arrays), ("target", "cuda")),
    )  # fmt: skip


with Record.open("r.jsonl", header(64)):
    Record.open("r.jsonl", header(64)).close()
