import math

import pandas as pd
import pytest

from ontogeny.report import wording


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (1500.0, "1.5k"),
        (2e6, "2M"),
        (0.25, "0.25"),
        (1e-5, "1e−5"),
        (2.5e-4, "2.5e−4"),
        (-3.0, "−3"),
    ],
)
def test_short_number(value, said):
    assert wording.short_number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "—"), (math.nan, "—"), (math.inf, "∞"), (0.12345, "0.123"), (12345.6, "12,346"), (-0.5, "−0.5")],
)
def test_number(value, said):
    assert wording.number(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(5, "5 s"), (372.4, "6 min 12 s"), (7300, "2 h 1 min"), (190_000, "2 d 4 h")]
)
def test_duration(seconds, said):
    assert wording.duration(seconds) == said


def test_small_things():
    assert wording.size(676_400_000) == "676 MB"
    assert wording.probability(0.00001) == "< 0.0001"
    assert wording.interval((560.0, None)) == "560 – …"
    assert wording.rounded(16_384_000) == "16.4M"
    assert wording.as_sentence("it held") == "It held."
    assert wording.as_sentence("") == ""


def claim(**more) -> pd.Series:
    base = {"part": "induction", "layer": 1, "head": 6, "step": 1240.0, "low": 1130.0, "high": 1320.0}
    return pd.Series(
        base | {"level": 0.95, "size": -0.62, "unit": "attention", "width": None, "p": None} | more
    )


def test_a_claim_in_plain_words():
    assert "".join(wording.sentence(claim(p=0.001, width=math.log(2)))) == (
        "At step 1,240 (95 % interval 1,130 – 1,320), induction in layer 1 head 6 fell by 0.62 (attention), "
        "most of it while the step count grew 2-fold. The null alone reaches this with p\u00a0=\u00a00.001."
    )


def test_a_claim_names_what_it_was_measured_on():
    _, name, _ = wording.sentence(claim(stimulus_name="repeated_tokens"))
    assert name == "induction in layer 1 head 6, on repeated tokens,"


def test_without_a_null_there_is_no_p():
    assert "".join(wording.sentence(claim(low=None, high=None))).endswith(
        "No null was measured, so there is no p-value."
    )
    assert "interval" not in wording.sentence(claim(low=None, high=None))[0]
