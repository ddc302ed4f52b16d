"""Several processes: the same bits, and nothing lost with a worker."""

import multiprocessing
import os
import signal

import pandas as pd
import pytest
import torch

from ontogeny.errors import OntogenyError
from ontogeny.measure import measure


@pytest.mark.slow
def test_two_workers_give_the_bits_of_one(run_of, rows):
    alone, shared = run_of("alone"), run_of("shared")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        measure(alone, workers=1)
    finally:
        torch.set_num_threads(before)
    done = []
    assert measure(shared, workers=2, done=done.append) == 5
    assert sorted(done) == [0, 1, 2, 4, 6]
    pd.testing.assert_frame_equal(rows(shared), rows(alone), check_exact=True)


@pytest.mark.slow
def test_a_killed_worker_loses_only_what_it_had_in_hand(run_of, rows):
    whole, cut = run_of("whole"), run_of("cut")
    measure(whole)
    done = []

    def kill(step: int) -> None:
        done.append(step)
        if len(done) == 1:
            for child in multiprocessing.active_children():
                os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(OntogenyError, match="a measuring process died"):
        measure(cut, workers=2, done=kill)
    kept = set(rows(cut)["step"])
    assert done[0] in kept
    again = []
    measure(cut, workers=2, done=again.append)
    assert sorted({*kept, *again}) == [0, 1, 2, 4, 6]
    assert not kept & set(again), "nothing is measured twice"
    pd.testing.assert_frame_equal(rows(cut), rows(whole), check_exact=True)
