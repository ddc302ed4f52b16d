"""Run every benchmark that has bounds, each in a process of its own, and print one table.

python -m benchmarks [--quick]      exits 1 if a bound is missed or a benchmark fails

`calibration_half_rise.py` has no bounds and is run by itself.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from claims import Claim, machine, show  # noqa: E402  # the benchmarks are scripts that import their neighbours

#: Every script here that makes claims: `claims.conclude` gives it its options and its exit status.
BENCHMARKS = sorted(path.stem for path in HERE.glob("[a-z]*.py") if "conclude(__doc__," in path.read_text())


def claims_of(name: str, options: list[str]) -> list[Claim]:
    """Run one benchmark; one that fails counts as a missed claim."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "claims.json"
        command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(found), *options]
        print(f"\n{name}", flush=True)
        subprocess.run(command, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if not found.exists():
            return [Claim(f"{name} ran to its end", 1, "failures", 0)]
        return [Claim(**claim) for claim in json.loads(found.read_text())]


if __name__ == "__main__":
    bounded = [
        claim for name in BENCHMARKS for claim in claims_of(name, sys.argv[1:]) if claim.most is not None
    ]
    print(f"\nEvery bound, on {machine()}")
    show(bounded)
    sys.exit(any(claim.missed for claim in bounded))
