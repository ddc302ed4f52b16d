"""Models of `transformers`: which class a configuration means, and its weights, strictly."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from ontogeny.errors import ForeignCheckpoint, MissingExtra, OntogenyError
from ontogeny.formats import Weights
from ontogeny.formats.gguf_file import without_bars
from ontogeny.subject.filling import CONSTANTS, fill, refuse_misfit
from ontogeny.subject.subject import Subject

#: What a saved config says of the file and not of the architecture.
_OF_THE_FILE = ("_name_or_path", "dtype", "torch_dtype", "transformers_version", "architectures")


def load_transformers(weights: Weights, into: Subject | None, label: str) -> Subject:
    """The model a `transformers` config describes, filled with the weights; errors as `load_subject`.

    Weights of the same configuration are copied into the given subject. Custom code is never run: a
    model_type that the installed `transformers` does not have is refused.
    """
    transformers = imported(label)
    config = described(transformers, weights.config, label)
    if into is None or not _same(into.model, config):
        return Subject(_built(transformers, config, weights, label))
    if not _filled(into.model, weights, label):
        into.model.load_state_dict(_built(transformers, config, weights, label).state_dict())
    return into


def imported(label: str) -> Any:
    try:
        import transformers  # an optional extra, and slow to import
    except ImportError as error:
        raise MissingExtra(
            f"{label} describes a model of transformers",
            received="no transformers",
            remedy="pip install 'ontogeny[hf]'",
        ) from error
    return transformers


def described(transformers: Any, document: Mapping[str, Any], label: str) -> Any:
    """The configuration object of a config.json, from the classes that `transformers` ships."""
    kind = document.get("model_type")
    try:
        known = transformers.models.auto.configuration_auto.CONFIG_MAPPING[kind]
    except KeyError:
        raise ForeignCheckpoint(
            f"{label} is of a model_type that transformers {transformers.__version__} does not have",
            received=repr(kind),
            allowed="its own model types; code that comes with a checkpoint is not run",
            remedy="install the release that has it, or give a Series a function that loads the model",
        ) from None
    if "quantization_config" in document:
        raise ForeignCheckpoint(
            f"{label} is quantised",
            received=str(document["quantization_config"])[:200],
            allowed="weights in floating point",
            remedy="dequantise it with the library that wrote it",
        )
    try:
        return known.from_dict(dict(document))
    except Exception as error:  # whatever its many configurations raise
        raise _not_loadable(label, error) from error


def _same(model: nn.Module, config: Any) -> bool:
    held: Any = getattr(model, "config", None)
    if type(held) is not type(config):
        return False
    here, there = (
        {name: value for name, value in one.to_dict().items() if name not in _OF_THE_FILE}
        for one in (held, config)
    )
    return here == there


def _filled(model: nn.Module, weights: Weights, label: str) -> bool:
    """Whether the weights went into the model as they are; False where `transformers` has to convert names
    or layouts of older releases first, or where they do not fit at all."""
    try:
        fill(model, weights, label)
    except ForeignCheckpoint:
        return False
    return True


def _built(transformers: Any, config: Any, weights: Weights, label: str) -> nn.Module:
    """The first class that the weights fill; where none does, the error of the first."""
    failure: OntogenyError | None = None
    for made in model_classes(transformers, config):
        try:
            with without_bars():
                return _loaded(made, config, weights, label)
        except OntogenyError as error:
            failure = failure or error
    raise failure or _not_loadable(label, f"no class of transformers runs {config.model_type!r}")


def model_classes(transformers: Any, config: Any) -> list[Any]:
    """Classes to try: the one the config names; without one a causal model, or for encoders one of masked
    tokens, and then the bare stack."""
    named = [getattr(transformers, name, None) for name in getattr(config, "architectures", None) or ()]
    found = [
        made for made in named if isinstance(made, type) and issubclass(made, transformers.PreTrainedModel)
    ]
    if found:
        return found
    automatic = transformers.AutoModelForMaskedLM, transformers.AutoModelForCausalLM, transformers.AutoModel
    masked, causal, bare = (_shipped(auto, config) for auto in automatic)
    return [*(masked if masked and not getattr(config, "is_decoder", False) else causal), *bare]


def _shipped(automatic: Any, config: Any) -> list[Any]:
    """The classes of `transformers` that one of its automatic ones stands for, given a configuration."""
    if type(config) not in automatic._model_mapping:
        return []
    found = automatic._model_mapping[type(config)]
    return list(found) if isinstance(found, tuple | list) else [found]


def _loaded(made: Any, config: Any, weights: Weights, label: str) -> nn.Module:
    try:
        loaded: Any = made.from_pretrained(
            None,
            config=config,
            state_dict=dict(weights.tensors),
            dtype="float32",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are named below
        )
    except Exception as error:  # whatever its many readers raise
        raise _not_loadable(label, error) from error
    model, report = loaded
    faults = {kind: sorted(map(str, report[kind])) for kind in ("missing_keys", "mismatched_keys")}
    extra = [name for name in sorted(report["unexpected_keys"]) if not CONSTANTS.search(name)]
    refuse_misfit(
        label,
        missing=faults["missing_keys"],
        mismatched=faults["mismatched_keys"],
        unexpected=extra,
        matched=len(weights.tensors) - len(report["unexpected_keys"]),
        given=weights.tensors,
    )
    model.eval()
    return model


def _not_loadable(label: str, reason: Any) -> ForeignCheckpoint:
    return ForeignCheckpoint(
        f"{label} cannot be loaded as a model",
        received=str(reason).split("\n\n")[0],
        allowed="weights and config of a decoder of ours, or of a model that transformers knows",
        remedy="give a Series a function that loads it, with a Subject and an Anatomy of your own",
    )
