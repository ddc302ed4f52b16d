"""The stored table: older files, and which claims are worth telling."""

import pandas as pd
import pyarrow as pa
import pytest

from changes import change, table
from ontogeny.detect.table import COLUMNS, TABLE, claimed, least_of, read_transitions, write_transitions
from ontogeny.store.rows import write_table


def test_what_is_written_is_read(tmp_path):
    found = table(change(layer=1, head=2), change("b", step=None, size=None, p=None, claimed=False))
    write_transitions(tmp_path, found)
    pd.testing.assert_frame_equal(read_transitions(tmp_path), found)


def test_a_file_of_an_earlier_version_is_read(tmp_path):
    old = table(change(layer=1)).drop(columns=["q", "kind", "null", "settings"])
    write_table(tmp_path / TABLE, pa.Table.from_pandas(old, preserve_index=False))
    found = read_transitions(tmp_path)
    assert found.columns.tolist() == list(COLUMNS)
    assert found["q"].isna().all()
    assert (found[["kind", "null", "settings"]] == "").all(axis=None)
    assert found["layer"].tolist() == [1]


def test_nothing_stored_is_an_empty_table(tmp_path):
    assert read_transitions(tmp_path).columns.tolist() == list(COLUMNS)
    assert claimed(read_transitions(tmp_path)).empty


def test_the_largest_claim_of_each_part_and_stimulus_is_told():
    found = claimed(
        table(
            change(step=300, size=0.3, head=0),
            change(step=200, size=-0.6, head=1),
            change(step=100, size=0.9, head=2, claimed=False),
            change(step=50, size=0.1, stimulus="other"),
        )
    )
    assert found["step"].tolist() == [50, 200]


@pytest.mark.parametrize(
    ("least", "told"),
    [(None, ["large"]), (0, ["small", "large"]), (0.9, []), ({"small": 0.001}, ["small", "large"])],
)
def test_what_is_too_small_is_not_told(least, told):
    found = table(change("small", step=1, size=0.007), change("large", step=2, size=0.5))
    assert claimed(found, least)["part"].tolist() == told


def test_a_part_is_asked_before_its_unit():
    assert least_of({"induction": 0.2, "attention": 0.1}, "induction", "attention") == 0.2
    assert least_of({"attention": 0.1}, "induction", "attention") == 0.1
    assert least_of({"induction": 0.2}, "sink_mass", "share") == 0.05
    assert least_of(None, "heldout_loss", "nats/token") == 0
    assert least_of(0.3, "anything", "share") == 0.3
