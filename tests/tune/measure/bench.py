"""A small program, schedules for it, and plans of faults."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from mdh.results.trial import Candidate, Effort, Failure, Job, Limits

MATMUL = """\
#define N 24
void matmul(const float A[N][N], const float B[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""
JOB = Job("matmul.c", MATMUL)
EFFORT = Effort(samples=3, seconds=0.1, give_up=1.0)
CLASSES = {
    "illegal store": Failure.CRASH,
    "misaligned": Failure.CRASH,
    "trap": Failure.CRASH,
    "endless loop": Failure.TIMEOUT,
    "shared memory": Failure.CRASH,
    "launch shape": Failure.LAUNCH,
    "endless compile": Failure.TIMEOUT,
    "compiler crash": Failure.CRASH,
    "host memory": Failure.CRASH,
}
"""What the kinds of faults amount to on a CPU, where a kernel runs inside the measuring process."""
LIMITS = Limits(build=20.0, launch=20.0, measure=20.0, trial=60.0)


def candidate(rows: int, columns: int) -> Candidate:
    text = f"""\
1: (de-)comp( {rows}, ^, ^ )    ( ^, ^ ; ^ )         ( BLK.x, ^, ^ )
2: (de-)comp( ^, {columns}, ^ ) ( ^, B:SM[1,2] ; ^ ) ( ^, FOR.1, ^ )
3: (de-)comp( ^, ^, 1 )         ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
4: (de-)comp( 1, 1, ^ )         ( ^, ^ ; ^ )         ( ^, ^, ^ )
"""
    return keyed(text)


def gone(pid: int) -> bool:
    """The process has ended; a zombie that waits for its parent counts."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def keyed(text: str) -> Candidate:
    return Candidate(sha256(text.encode()).hexdigest(), text)


GOOD = tuple(candidate(rows, columns) for rows in (1, 2, 3, 4, 6) for columns in (2, 4, 8))


def plan(path: Path, faults: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(faults), encoding="utf-8")
    return path
