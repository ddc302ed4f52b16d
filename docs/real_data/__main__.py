"""What detection and statistics say of training runs that nobody here trained; see real-data.md.

    python docs/real_data ../shared/data               every table of real-data.md (a minute)
    python docs/real_data ../shared/data declines      one of them: declines, spikes, repeats, optimizers

Each study is a module here, and a function of the folder the data is in. Tests hold what they give:
tests/realdata.
"""

import sys
from pathlib import Path

from declines import declines_told
from optimizers import optimizers_told, repeats_told
from spikes import spikes_told

STUDIES = {
    "declines": declines_told,
    "spikes": spikes_told,
    "repeats": repeats_told,
    "optimizers": optimizers_told,
}


def main(data: Path, names: list[str]) -> None:
    """Print the studies named, or all."""
    for name in names or STUDIES:
        for line in STUDIES[name](data):
            print(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
