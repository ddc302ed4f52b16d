"""The item audit of two models."""

import numpy as np
import pandas as pd
import pytest

from ontogeny.audit.items import audit_items
from ontogeny.errors import BadSource


def evaluated(chances, replicates: int, seed: int) -> pd.DataFrame:
    drawn = np.random.default_rng(seed).random((replicates, len(chances))) < chances
    items = np.tile([f"q{i}" for i in range(len(chances))], replicates)
    return pd.DataFrame({"item": items, "acc": drawn.ravel().astype(float)})


BEFORE = np.r_[np.zeros(20), np.ones(10), np.full(100, 0.5), np.zeros(100), np.ones(170)]
AFTER = np.r_[np.ones(20), np.zeros(10), np.full(100, 0.5), np.zeros(100), np.ones(170)]


def test_gains_and_losses_are_named_and_noise_is_counted():
    found = audit_items(evaluated(BEFORE, 8, 0), evaluated(AFTER, 8, 1))
    verdicts = found.items.set_index("item")["verdict"]
    assert (verdicts[:20] == "gained").all()
    assert (verdicts[20:30] == "lost").all()
    assert (verdicts[30:] == "gained").sum() <= 3
    assert set(verdicts[130:]) == {"same"}
    assert found.items["flips_before"][30:130].mean() == pytest.approx(0.5, abs=0.05)
    assert (found.items["flips_after"][130:] == 0).all()
    gained, lost, p = found.ledger
    assert gained - 20 == pytest.approx(25, abs=12)
    assert p.n == gained + lost
    text = found.text()
    assert "400 items of both, acc" in text
    assert f"first evaluations: {gained} gained, {lost} lost" in text
    assert "had nothing changed" in text
    assert "gained: q0, q1, " in text
    assert " and " in text


def test_without_replicates_no_item_is_called_anything():
    found = audit_items(evaluated(BEFORE, 1, 0), evaluated(AFTER, 1, 1))
    assert set(found.items["verdict"]) == {"same", "not told from noise"}
    assert found.items["flips_before"].isna().all()
    text = found.text()
    assert "how many of these are noise is not known: neither model was evaluated twice" in text
    assert "single items cannot be told from noise" in text
    assert "McNemar" in text


def test_one_model_replicated_gives_the_noise():
    found = audit_items(evaluated(BEFORE, 6, 0), evaluated(AFTER, 1, 1))
    assert found.changes.by_chance.value == pytest.approx(25, rel=0.4)
    assert "unknown" in found.text()
    assert found.changes.refusal or found.changes.tested


def test_items_of_one_model_only_and_other_questions_are_left_out():
    before = pd.DataFrame({"doc_id": [1, 2, 3, 4], "acc": [0, 1, 1, 0], "doc_hash": list("abcd")})
    after = pd.DataFrame({"doc_id": [2, 3, 5], "acc": [1, 0, 1], "doc_hash": list("bxe")})
    found = audit_items(before, after)
    assert found.items["item"].tolist() == ["2"]
    assert found.notes == (
        "2 items of table only, left out",
        "1 items of table only, left out",
        "1 items ask another question under the same name, left out",
    )


def test_graded_scores_are_right_from_a_threshold():
    before = pd.DataFrame({"item": list("abc"), "rouge": [0.2, 0.6, 0.9]})
    after = pd.DataFrame({"item": list("abc"), "rouge": [0.7, 0.6, 0.1]})
    assert audit_items(before, after).ledger[:2] == (1, 1)
    strict = audit_items(before, after, threshold=0.65)
    assert strict.ledger[:2] == (1, 1)
    assert "right from 0.65" in strict.text()
    assert audit_items(before, after, threshold=0.15).ledger[:2] == (0, 1)


def test_no_shared_item():
    with pytest.raises(BadSource, match="share no item"):
        audit_items(pd.DataFrame({"item": ["a"], "s": [1]}), pd.DataFrame({"item": ["b"], "s": [1]}))
