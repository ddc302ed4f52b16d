"""The largest entries against the median, over the first sequences."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.evidence import EVIDENCE, View
from ontogeny.vocabulary import Place, Stimulus


def peaks(stream: torch.Tensor):
    sequences, length, _ = stream.shape
    blank = Stimulus(
        "blank", torch.zeros(sequences, length, dtype=torch.long), torch.zeros(sequences, length)
    )
    view = View(stream, blank, slice(0, sequences), Place(layer=0))
    reducer = EVIDENCE["magnitude_peaks"]["residual"].make()
    return reducer.finish(reducer.update(reducer.init(view), view))


@given(length=st.integers(1, 9), width=st.integers(1, 7), seed=st.integers(0, 9))
def test_they_are_what_sorting_says(length, width, seed):
    stream = torch.randn(4, length, width, generator=torch.Generator().manual_seed(seed))
    found = peaks(stream)
    sizes = stream.abs().flatten(1)
    order = sizes.sort(1, descending=True)
    count = min(3, length * width)
    assert torch.equal(found.top, order.values[:, :count])
    assert torch.equal(sizes.gather(1, found.place), found.top)
    assert torch.equal(found.median, sizes.median(1).values)
    assert found.width == width


def test_only_ten_sequences_are_looked_at(reduced, shown):
    stream = shown("residual", 24)
    assert torch.equal(reduced("magnitude_peaks", "residual", stream, 7).top, peaks(stream[:10]).top)


def test_a_broken_entry_is_seen(shown):
    stream = shown("residual")
    stream[1, 2, 3] = torch.nan
    found = peaks(stream)
    assert found.median.isnan().tolist() == [False, True, False, False, False, False]
    assert found.top[1].isnan().any()
