"""Steps in names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import NotARun
from ontogeny.series.naming import Named, Pattern, plain_step, worded_step


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("checkpoint-500", 500),
        ("step1000", 1000),
        ("iter_000100", 100),
        ("global_step10", 10),
        ("ckpt_500.pt", 500),
        ("model5000.bin", 5000),
        ("epoch3-step50", 50),
        ("epoch=3-step=50.ckpt", 50),
        ("step50-loss2.31.ckpt", 50),
        ("stage1-step1000-tokens5B", 1000),
        ("run2_iteration_30", 30),
        ("checkpoint_12_update_400", 400),
        ("000400", 400),
        ("init", 0),
        ("final", None),
        ("main", None),
    ],
)
def test_trainers_names(name, step):
    assert plain_step(name) == step


@pytest.mark.parametrize(
    "name", ["step1k", "15M", "stories15M.bin", "step1-step2", "model-00001-of-00002", "v2.1"]
)
def test_what_can_be_read_in_several_ways_is_refused(name):
    with pytest.raises(NotARun, match="--pattern"):
        plain_step(name)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step1000", 1000),
        ("SmolLM2-135M", None),
        ("llama-2", None),
        ("model5000.bin", 5000),
        ("model-7", None),
    ],
)
def test_one_checkpoint_has_a_step_only_where_a_word_says_so(name, step):
    assert worded_step(name) == step


@pytest.mark.parametrize(
    ("pattern", "name", "said"),
    [
        ("step{step}", "step512", Named(512)),
        ("step{step}", "step512-tokens4B", None),
        ("step{step}", "mystep512", None),
        ("*step{step}*", "my-step512-x", Named(512)),
        ("stage1-step{step}-tokens{tokens}B", "stage1-step1000-tokens5B", Named(1000, 5e9)),
        ("stage1-step{step}-tokens{tokens}B", "stage2-step1000-tokens5B", None),
        ("step{step}k", "step3k", Named(3000)),
        ("step{step}k", "step1.5k", Named(1500)),
        ("step{step}{step_unit}", "step500", Named(500)),
        ("step{step}{step_unit}", "step2M", Named(2_000_000)),
        ("{tokens}B tokens", "2B tokens", Named(2_000_000_000, 2e9)),
        ("model.{step}", "model.7", Named(7)),
        ("model.{step}", "modelx7", None),
        (r"run-(?P<step>\d+)", "a-run-12-b", Named(12)),
        (r"(?P<tokens>\d+)(?P<tokens_unit>[MB]).*s(?P<step>\d+)", "3M-s4", Named(4, 3e6)),
        ("{step}/hf", "100/hf", Named(100)),
    ],
)
def test_patterns(pattern, name, said):
    assert Pattern.of(pattern).read(name) == said


def test_a_pattern_without_a_step_counts_tokens():
    assert Pattern.of("{tokens}B").counts_tokens
    assert not Pattern.of("{tokens}B-{step}").counts_tokens


@pytest.mark.parametrize("pattern", ["step", "(", r"(\d+)", "", "{epoch}"])
def test_a_pattern_that_finds_no_step_is_refused(pattern):
    with pytest.raises(NotARun, match=r"cannot be used[\s\S]*step\{step\}"):
        Pattern.of(pattern)


def test_a_unit_that_gives_half_a_step_is_refused():
    with pytest.raises(NotARun, match=r"no whole number[\s\S]*1\.5"):
        Pattern.of("s{step}").read("s1.5")


@given(st.integers(0, 10**12), st.sampled_from(["checkpoint-{}", "step{}", "iter_{:09d}", "x{}.pt", "{}"]))
def test_any_step_survives_its_name(step, form):
    assert plain_step(form.format(step)) == step


@given(st.text(max_size=30))
def test_no_name_breaks_the_reader(name):
    try:
        step = plain_step(name)
    except NotARun:
        return
    assert step is None or step >= 0
