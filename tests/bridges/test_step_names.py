"""Steps in names: after a word, by a pattern, or the number that differs."""

import pytest

from ontogeny.bridges.step_names import named_step, varying_steps, without_times
from ontogeny.errors import NotARun
from ontogeny.series.naming import Pattern


@pytest.mark.parametrize(
    ("text", "step", "left"),
    [
        ("pythia-70m/zero-shot/70m_step512", 512, "pythia-70m/zero-shot/70m_step#"),
        ("run/checkpoint-500/results_2024-05-01T12-33-10.123456", 500, "run/checkpoint-#/results"),
        (
            "pretrained=EleutherAI/pythia-160m,revision=step1000",
            1000,
            "pretrained=EleutherAI/pythia-160m,revision=step#",
        ),
        ("iter_0001500", 1500, "iter_#"),
        ("step1000-tokens4B", 1000, "step#-tokens4B"),
    ],
)
def test_the_number_after_a_word_is_the_step(text, step, left):
    assert named_step(text) == (step, left)


def test_without_a_word_there_is_no_step():
    assert named_step("pythia-70m/main") is None
    assert named_step("step1k") is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("ep{step}", "m1/ep7/out", (7, "m1/ep#/out")),
        (r"run-(?P<step>\d+)", "a/run-12-seed3", (12, "a/run-#-seed3")),
        ("it{step}k", "m/it2k", (2000, "m/it#k")),
        ("step{step}", "m/other3", None),
    ],
)
def test_a_pattern_says_which_number_is_the_step(pattern, text, found):
    assert named_step(text, Pattern.of(pattern)) == found


def test_a_pattern_that_finds_nothing_is_refused():
    with pytest.raises(NotARun, match="cannot be used"):
        Pattern.of("step")


def test_the_last_number_that_differs_among_names_alike():
    found = varying_steps(["7b/a-100.3", "7b/a-200.3", "7b/b-100", "other"])
    assert found == [(100, "7b/a-#.3"), (200, "7b/a-#.3"), None, None]


def test_times_of_day_are_no_part_of_a_name():
    assert without_times("results_2024-05-01T12-33-10.123456") == "results"
