"""What must hold between sites if a map is right; a comparison gives what is off, and by how much."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ontogeny.errors import NotObservable
from ontogeny.vocabulary import Place

if TYPE_CHECKING:
    from ontogeny.subject.check import Run
    from ontogeny.subject.subject import Subject

#: How far numbers may be apart, as a share of the largest number compared.
TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


#: How far long sums may be apart, as a share of the sum of their terms' magnitudes: they are made in float32
#: at least, and what is left after much cancels has the errors of what cancelled.
SUMMED = 1e-5


def apart(found: Tensor, expected: Tensor, *terms: Tensor, summed: Tensor | None = None) -> str:
    """How far two tensors are apart, in words; "" if they are equal but for rounding, or not finite.

    Rounding is a share of the largest number among what is expected and the terms it is a sum of; of sums
    over many terms also a share of `summed`, the sum of the magnitudes. Scaling a model changes nothing.
    """
    if found.shape != expected.shape:
        return f"is {list(found.shape)}, not {list(expected.shape)}"
    if not (bool(found.isfinite().all()) and bool(expected.isfinite().all())):
        return ""
    difference = float((found - expected).abs().max()) if found.numel() else 0.0
    scale = max((float(term.abs().max()) for term in (expected, *terms) if term.numel()), default=0.0)
    allowed = TOLERANCE.get(found.dtype, 1e-4) * scale
    allowed += 0.0 if summed is None or not summed.numel() else SUMMED * float(summed.abs().max())
    return "" if difference <= allowed else f"is off by {difference:.3g}, with {allowed:.3g} allowed"


def _sums(equation: str, given: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Products summed as the equation says, and their magnitudes summed."""
    return torch.einsum(equation, given, weight), torch.einsum(equation, given.abs(), weight.abs())


def shapes(subject: "Subject", run: "Run") -> dict[str, str]:
    """Every site has the shape that its name says."""
    anatomy, (sequences, length) = subject.anatomy, run.tokens.shape
    per_head = (length, anatomy.head_dim)
    expected: dict[str, tuple[int, ...]] = {
        "query": (anatomy.heads, *per_head),
        "key": (anatomy.key_value_heads, *per_head),
        "value": (anatomy.key_value_heads, *per_head),
        "attention": (anatomy.heads, length, length),
        "head_output": (length, anatomy.heads, anatomy.head_dim),
        "mlp_preactivation": (length, anatomy.neurons),
        "mlp_activation": (length, anatomy.neurons),
        "logits": (length, anatomy.vocabulary),
    }
    wrong = {}
    for (site, place), tensor in run.seen.items():
        shape = (sequences, *expected.get(site, (length, anatomy.width)))
        if tensor.shape != shape:
            wrong.setdefault(site, f"at {place} is {list(tensor.shape)}, not {list(shape)}")
    return wrong


def patterns(subject: "Subject", run: "Run") -> dict[str, str]:
    """What a query gives to all keys is one, and nothing to later ones where the model is causal."""
    for (site, place), pattern in run.seen.items():
        if site != "attention":
            continue
        off = apart(pattern.sum(-1), torch.ones_like(pattern[..., 0]))
        if off:
            return {"attention": f"the sum of a query's weights at {place} {off}"}
        if subject.anatomy.causal and float(pattern.triu(1).abs().nan_to_num().max()) > 0:
            return {"attention": f"at {place} queries see later keys, and the map says they do not"}
    return {}


def sums(subject: "Subject", run: "Run") -> dict[str, str]:
    """A block gives its input, what attention added and what the MLP added, normed where the map says."""
    anatomy = subject.anatomy
    if "sum" not in anatomy.claims or not anatomy.shows("embedding"):
        return {}
    before = run.seen["embedding", Place()]
    for layer, place in anatomy.places():
        stream = before
        for site, name in zip(("attention_output", "mlp_output"), anatomy.stream_norms, strict=True):
            if (site, place) in run.seen:
                stream = stream + run.seen[site, place]
            if name:
                stream = _module(subject, f"{anatomy.blocks[layer]}.{name}", stream)
        off = apart(stream, run.seen["residual", place], before)
        if off:
            what = f"the stream's sum at {place} {off}"
            return dict.fromkeys(("sum", "attention_output", "mlp_output"), what)
        before = run.seen["residual", place]
    return {}


def ends(subject: "Subject", run: "Run") -> dict[str, str]:
    """The embedding's rows enter the stream; its end, normed, is the final state, and that is read out."""
    anatomy, wrong = subject.anatomy, {}
    residual = run.seen["residual", list(anatomy.places())[-1][1]]
    if "embedding" in anatomy.claims:
        off = apart(run.seen["embedding", Place()], subject.embedding()[run.tokens])
        wrong |= {"embedding": f"the stream that enters block 0 {off}"} if off else {}
    final = _module(subject, anatomy.final_norm, residual) if anatomy.final_norm else residual
    if anatomy.sites.get("final_state"):
        off = apart(run.seen["final_state", Place()], final)
        wrong |= {"final_state": f"the norm of the last residual {off}"} if off else {}
    if "readout" in anatomy.claims:
        with torch.no_grad():
            off = apart(run.logits, subject.readout(residual), summed=_read_out(subject, final))
        wrong |= (
            {"readout": f"what is read out of the last residual {off}"} if off else _gain(subject, residual)
        )
    return wrong


def _read_out(subject: "Subject", final: Tensor) -> Tensor | None:
    try:
        weight = subject.unembedding()
    except NotObservable:
        return None
    return final.abs() @ weight.abs().T


def _gain(subject: "Subject", residual: Tensor) -> dict[str, str]:
    """The final norm multiplies the normed stream with the gain that the map says, and adds its bias."""
    gain = subject.final_norm_gain()
    if gain is None:
        return {}
    off = _normed(subject.model.get_submodule(subject.anatomy.final_norm), gain, residual)
    return {"readout": f"the final norm's gain {off}"} if off else {}


def _normed(norm: Any, gain: Tensor, stream: Tensor) -> str:
    """How far a norm is from dividing by the root mean square, centred or not, and multiplying by a gain."""
    normed, bias = norm(stream), getattr(norm, "bias", None)
    named = (getattr(norm, name) for name in ("eps", "variance_epsilon") if hasattr(norm, name))
    epsilon = next(named, 1e-5)  # OLMo 1 has it in its code only
    centred = stream - stream.mean(-1, keepdim=True)
    rates = [(x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * gain for x in (centred, stream)]
    plain = [x * rate for x, rate in zip((centred, stream), rates, strict=True)]
    # Of a stream of nearly equal features little is left without their mean: errors are those of the stream.
    off = [
        apart(normed, x if bias is None else x + bias, stream * rate)
        for x, rate in zip(plain, rates, strict=True)
    ]
    return off[1] if all(off) else ""


def heads(subject: "Subject", run: "Run") -> dict[str, str]:
    """Heads' weights make values of what attention receives, and its output of the heads' outputs.

    Only differences between positions are compared, in which biases cancel; queries and keys at position 0,
    where rotations are none, and up to a factor.
    """
    anatomy = subject.anatomy
    if anatomy.projections is None:
        return {}
    for layer in range(anatomy.layers):
        place = anatomy.place(layer, anatomy.loops - 1)
        try:
            weights = subject.head_weights(layer)
        except (RuntimeError, NotObservable) as error:
            return {"head": str(error).replace("\n", "; ")}
        made, size = _sums("sphc,hwc->spw", run.seen["head_output", place], weights.output)
        projected = run.projected[place]
        output = apart(_differences(made), _differences(projected), made, projected, summed=size)
        off = {"output": output}
        off["attention_output"] = _written(subject, run, layer, place)
        off["norm"] = _read(subject, run, layer, place)
        if anatomy.attention:
            off |= _asked_and_offered(subject, run, layer, place)
        wrong = [f"{name} at {place} {what}" for name, what in off.items() if what]
        if wrong:
            return {"head": ", ".join(wrong)}
    return {}


def _asked_and_offered(subject: "Subject", run: "Run", layer: int, place: Place) -> dict[str, str]:
    """How far values, queries and keys are from what their weights make of what attention receives."""
    weights, given = subject.head_weights(layer), run.attended[place]
    groups = subject.anatomy.heads // subject.anatomy.key_value_heads
    value = run.seen["value", place].repeat_interleave(groups, 1)
    made, size = _sums("spw,hcw->shpc", given, weights.value)
    off = {"value": apart(_differences(value, 2), _differences(made, 2), made, value, summed=size)}
    if _plain_queries(subject, layer):
        key = run.seen["key", place].repeat_interleave(groups, 1)
        off["query"] = _aligned(run.seen["query", place], given, weights.query)
        off["key"] = _aligned(key, given, weights.key)
    return off


def _read(subject: "Subject", run: "Run", layer: int, place: Place) -> str:
    """Heads read the stream before their block, normed with the gain that the map says."""
    anatomy = subject.anatomy
    norm = anatomy.projections.norm if anatomy.projections else None
    places = [None, *(place for _, place in anatomy.places())]
    before = places[places.index(place) - 1]
    site = ("embedding", Place()) if before is None else ("residual", before)
    if norm is None or site not in run.seen:
        return ""
    stream = run.seen[site]
    if not norm:
        return apart(run.attended[place], stream)
    module = subject.model.get_submodule(f"{anatomy.blocks[layer]}.{norm}")
    off = apart(run.attended[place], module(stream))
    return off or _normed(module, subject.head_gains(layer).read, stream)


def _written(subject: "Subject", run: "Run", layer: int, place: Place) -> str:
    """attention_output is what the output projection gives, normed where the map says."""
    if ("attention_output", place) not in run.seen:
        return ""
    norm = subject.anatomy.branch_norms[0]
    projected = run.projected[place]
    if norm:
        projected = _module(subject, f"{subject.anatomy.blocks[layer]}.{norm}", projected)
    return apart(run.seen["attention_output", place], projected)


def _aligned(found: Tensor, given: Tensor, weight: Tensor) -> str:
    made, size = _sums("sw,hcw->shc", given[:, 0], weight)
    change, seen = made - made[:1], found[:, :, 0] - found[:1, :, 0]
    largest = change.abs().max().clamp_min(torch.finfo(change.dtype).tiny)  # squares of small numbers vanish
    part = change / largest
    factor = (part * (seen / largest)).sum() / part.square().sum().clamp_min(1e-12)
    factor = factor.clamp_min(0)
    return apart(seen, change * factor, made * factor, found[:, :, 0], summed=size * factor)


def _differences(tensor: Tensor, position: int = 1) -> Tensor:
    """From the first position of the first sequence."""
    return tensor - tensor.narrow(0, 0, 1).narrow(position, 0, 1)


def _plain_queries(subject: "Subject", layer: int) -> bool:
    """Whether queries and keys are linear in what attention receives, but for rotations."""
    attention = subject.model.get_submodule(subject.anatomy.attention[layer])
    normed = any("norm" in name for name, _ in attention.named_modules())
    return not normed and not getattr(getattr(subject.model, "config", None), "clip_qkv", None)


def _module(subject: "Subject", path: str, given: Tensor) -> Tensor:
    return subject.model.get_submodule(path)(given)


ALL = (shapes, patterns, sums, ends, heads)
