"""Results files of both versions of the harness."""

from ontogeny.bridges import harness

NEW = {
    "results": {
        "lambada_openai": {
            "alias": "lambada",
            "perplexity,none": 9.5,
            "perplexity_stderr,none": 0.3,
            "acc,none": 0.5,
        },
        "gsm8k": {"exact_match,strict-match": 0.1, "exact_match_stderr,strict-match": "N/A"},
    },
    "versions": {"lambada_openai": 1.0},
    "n-shot": {"lambada_openai": 0, "gsm8k": 5},
    "config": {
        "model": "hf",
        "model_args": {"pretrained": "EleutherAI/pythia-70m", "revision": "step512", "dtype": "float16"},
        "batch_size": 8,
        "device": "cuda:3",
        "model_sha": "abc",
    },
    "git_hash": "1234567",
}
OLD = {
    "results": {"piqa": {"acc": 0.6, "acc_stderr": 0.01}},
    "config": {"model_args": "use_accelerate=True,pretrained=a/b,revision=step1", "batch_size": 32},
}


def test_both_versions_are_recognised_and_nothing_else():
    assert harness.is_harness(NEW)
    assert harness.is_harness(OLD)
    assert not harness.is_harness({"results": {}, "config": {}})
    assert not harness.is_harness({"results": {"a": 1}, "config": {}})
    assert not harness.is_harness({"results": {"a": {}}})


def test_numbers_and_errors_by_task_and_metric():
    values, errors = harness.values_and_errors(NEW["results"])
    assert values["lambada_openai"] == {"perplexity": 9.5, "acc": 0.5}
    assert errors["lambada_openai"] == {"perplexity": 0.3}
    assert values["gsm8k"] == {"exact_match,strict-match": 0.1}
    assert errors["gsm8k"] == {}
    assert harness.values_and_errors(OLD["results"]) == ({"piqa": {"acc": 0.6}}, {"piqa": {"acc": 0.01}})


def test_settings_leave_out_the_model_and_the_device():
    assert harness.settings(NEW) == {
        "model": "hf",
        "batch_size": "8",
        "git_hash": "1234567",
        "dtype": "float16",
    }
    assert harness.settings(OLD) == {"batch_size": "32", "use_accelerate": "True"}


def test_what_names_the_model():
    assert harness.arguments(NEW["config"])[0] == "pretrained=EleutherAI/pythia-70m,revision=step512"
    assert harness.arguments(OLD["config"])[0] == "pretrained=a/b,revision=step1"
    assert harness.arguments({}) == ("", {})


def test_settings_of_single_tasks():
    assert harness.task_settings(NEW)["shots"] == {"lambada_openai": "0", "gsm8k": "5"}
    assert harness.task_settings(OLD) == {}
