"""One torch thread everywhere, shapes checked, and the shared data that only some machines have."""

import os
from pathlib import Path

import hypothesis
import jaxtyping
import pytest
import torch

#: Packages whose signatures carry shapes; the others pass files and tables about.
SHAPED = (
    "detectors",
    "evidence",
    "hooks",
    "instruments",
    "measure",
    "models.decoder",
    "models.shapes",
    "nulls",
    "numerics",
    "objectives",
    "statistics",
    "stimuli",
    "subject",
)

os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)
jaxtyping.install_import_hook([f"ontogeny.{name}" for name in SHAPED], "shape_checks.checked")

# A deadline in wall time fails on a busy machine and says nothing of the code.
hypothesis.settings.register_profile("ontogeny", deadline=None)
hypothesis.settings.load_profile("ontogeny")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data nobody here wrote; absent on an outsider's machine, required in CI."""
    if not SHARED.is_dir():
        assert os.environ.get("CI") != "true", f"{SHARED} must be there in CI"
        pytest.skip("the shared data is not on this machine")
    return SHARED
