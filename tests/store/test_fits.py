"""Artefacts of fits: kept whole, found by key, damage named."""

import pytest
import torch

from ontogeny.errors import Damaged, UnknownName
from ontogeny.store.fits import compact_fits, fit_keys, read_fit, verify_fits, write_fits

ONE = {"weight": torch.arange(6.0).view(2, 3), "bias": torch.zeros(2, dtype=torch.float64)}
OTHER = {"weight": torch.ones(0, 3)}


def test_what_was_written_is_read_by_its_key(tmp_path):
    assert write_fits(tmp_path, {}) is None
    write_fits(tmp_path, {"000001-probe-layer-0": ONE})
    write_fits(tmp_path, {"000002-probe-layer-0": OTHER})
    assert fit_keys(tmp_path) == {"000001-probe-layer-0", "000002-probe-layer-0"}
    for compacted in (False, True):
        if compacted:
            compact_fits(tmp_path)
        assert len(list((tmp_path / "fits").iterdir())) == (1 if compacted else 2)
        found = read_fit(tmp_path, "000001-probe-layer-0")
        assert set(found) == set(ONE)
        assert all(torch.equal(found[name], ONE[name]) for name in ONE)
        assert read_fit(tmp_path, "000002-probe-layer-0")["weight"].shape == (0, 3)
        assert not verify_fits(tmp_path)


def test_an_unknown_key_gets_the_nearest(tmp_path):
    write_fits(tmp_path, {"000001-probe": ONE})
    with pytest.raises(UnknownName, match="did you mean '000001-probe'"):
        read_fit(tmp_path, "000001-prob")


def test_a_changed_byte_is_found(tmp_path):
    path = write_fits(tmp_path, {"probe": ONE})
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(Damaged, match="not what its header says"):
        read_fit(tmp_path, "probe")
    (damage,) = verify_fits(tmp_path)
    assert damage.file.startswith("fits/")
    write_fits(tmp_path, {"another": OTHER})
    with pytest.raises(Damaged):
        compact_fits(tmp_path)
