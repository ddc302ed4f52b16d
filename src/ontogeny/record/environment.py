"""What a run ran on: everything that can change its bits."""

import os
import platform
import sys
from typing import Any

import numpy as np
import torch


def environment() -> dict[str, Any]:
    """Versions, instruction set, threads and determinism settings, as plain values."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "machine": platform.machine(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "threads": torch.get_num_threads(),
        "processes": _processes(),
        "interop_threads": torch.get_num_interop_threads(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS", ""),
        "mkl": torch.backends.mkl.is_available(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cuda": torch.version.cuda or "",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cublas_workspace": os.environ.get("CUBLAS_WORKSPACE_CONFIG", ""),
        "command": " ".join(sys.argv),
    }


def _processes() -> int:
    """The world size of torch's process group; 1 without one."""
    distributed = torch.distributed
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1
