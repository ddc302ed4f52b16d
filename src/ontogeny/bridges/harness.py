"""Results of lm-evaluation-harness: v0.3 (`acc`, `acc_stderr`) and v0.4 (`acc,none`, `acc_stderr,none`)."""

from collections.abc import Mapping
from typing import Any

_STDERR = "_stderr"
#: Keys of `config` that say where a model came from or where it ran; not how it was evaluated.
_NO_SETTING = {"model_args", "device", "model_sha", "model_revision", "batch_sizes", "model_num_parameters"}
#: Arguments of a model that name it; the others are settings.
_NAMING = ("pretrained", "peft", "model", "engine", "revision", "subfolder", "delta")
#: v0.4 keeps these for every task.
_PER_TASK = {"versions": "version", "n-shot": "shots", "task_hashes": "hash"}
_VERSIONS = ("git_hash", "transformers_version")


def is_harness(document: Mapping[str, Any]) -> bool:
    """Whether a JSON document has the shape of a results file: tasks with numbers, beside a config."""
    results, config = document.get("results"), document.get("config")
    if not isinstance(results, dict) or not isinstance(config, dict) or not results:
        return False
    return all(isinstance(metrics, dict) for metrics in results.values()) and "checkpoints" not in document


def values_and_errors(
    results: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Numbers and their standard errors by task and metric; `,none` is dropped, other filters stay."""
    values: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    for task, metrics in results.items():
        values[task], errors[task] = {}, {}
        for key, number in metrics.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                continue  # "alias", and "N/A" where no error was estimated
            name, _, rule = key.partition(",")
            rule = "" if rule in ("", "none") else f",{rule}"
            if name.endswith(_STDERR):
                errors[task][name.removesuffix(_STDERR) + rule] = float(number)
            elif name not in ("sample_len", "samples"):
                values[task][name + rule] = float(number)
    return {task: found for task, found in values.items() if found}, errors


def arguments(config: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """What names the model in `model_args`, as one text, and the other arguments."""
    given = config.get("model_args") or {}
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",") if part]
        given = {key.strip(): value.strip() for key, _, value in pairs}
    names = {key: str(value) for key, value in given.items() if key in _NAMING}
    rest = {key: str(value) for key, value in given.items() if key not in _NAMING}
    return ",".join(f"{key}={names[key]}" for key in sorted(names)), rest


def settings(document: Mapping[str, Any]) -> dict[str, str]:
    """How the evaluation was made: everything of `config` but the model and the device, and the versions."""
    config = document["config"]
    found = {key: str(value) for key, value in config.items() if key not in _NO_SETTING}
    found |= {key: str(document[key]) for key in _VERSIONS if key in document}
    return found | arguments(config)[1]


def task_settings(document: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Version, shots and hash of every task, where the file gives them: setting -> task -> value."""
    found = {}
    for key, name in _PER_TASK.items():
        if isinstance(document.get(key), dict):
            found[name] = {task: str(value) for task, value in document[key].items()}
    return found
