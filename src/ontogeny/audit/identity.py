"""Checkpoints of a series that are equal, unreadable, incomplete or not finite."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ontogeny.audit.finding import Finding, listed
from ontogeny.audit.imprint import Imprint
from ontogeny.bridges.step_names import named_step


def reading_findings(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    """Checkpoints that could not be read, or whose values are missing, not finite, or of other tensors."""
    for one in imprints:
        named = named_step(one.label)
        if named and named[0] != one.step and one.recorded == one.step:
            seen = f"{one.label} is of step {one.step}, as the files beside it say"
            yield Finding("step-mismatch", name, seen, (one.step,), numbers={"named": named[0]})
        if one.failure is not None:
            yield Finding(
                "unreadable", name, f"step {one.step}: {' '.join(one.failure.split())}", (one.step,)
            )
        if bad := {n: t.nonfinite for n, t in one.tensors.items() if t.nonfinite}:
            seen = f"step {one.step}: {sum(bad.values()):,} values of {listed(bad)} are not finite"
            yield Finding(
                "nonfinite", name, seen, (one.step,), tuple(bad), numbers={"values": sum(bad.values())}
            )
    readable = [one for one in imprints if one.tensors]
    if readable:
        yield from _changed_tensors(name, readable)
        yield from _changed_dtypes(name, readable)


def _changed_tensors(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    forms = [frozenset((n, t.shape) for n, t in one.tensors.items()) for one in imprints]
    usual = Counter(forms).most_common(1)[0][0]
    for one, form in zip(imprints, forms, strict=True):
        if form == usual:
            continue
        missing, added = sorted({n for n, _ in usual - form}), sorted({n for n, _ in form - usual})
        parts = [f"without {listed(missing)}"] if missing else []
        parts += [f"with {listed(added)}"] if added else []
        seen = f"step {one.step}: {len(form)} tensors where the others have {len(usual)}; {', '.join(parts)}"
        numbers = {"missing": len(missing), "added": len(added)}
        tensors = tuple(dict.fromkeys(missing + added))
        yield Finding("changed-tensors", name, seen, (one.step,), tensors, numbers=numbers)


def _changed_dtypes(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    kinds = [tuple(sorted({t.dtype for t in one.tensors.values()})) for one in imprints]
    usual = Counter(kinds).most_common(1)[0][0]
    steps = [one.step for one, kind in zip(imprints, kinds, strict=True) if kind != usual]
    if steps:
        others = sorted({", ".join(kind) for kind in kinds if kind != usual})
        seen = f"{' / '.join(others)} at {listed(steps)}, where the others have {', '.join(usual)}"
        yield Finding("changed-dtype", name, seen, tuple(steps), numbers={"checkpoints": len(steps)})


def equality_findings(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    """Checkpoints with equal tensors, and what tells one file saved twice from training that stood still.

    Equal weights that open a series are `no-update-yet` and later ones `duplicate-checkpoint`, unless the
    trainer's own files beside them say more: equal there too, they are the `same-file`; different, training
    went on (`no-update`). Without such files weights alone cannot tell, and `seen` says so. A series of
    equal weights throughout is no beginning, unless its steps follow each other one by one.
    Known: steps 0 and 1 of a run whose first learning rate is zero.
    Misleads: weights copied alone, beside a trainer's files of their own step, look like `no-update`.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(imprints):
        if one.content:
            groups[one.content].append(index)
    for group in groups.values():
        if len(group) < 2:
            continue
        opening = 0
        while opening < len(group) and group[opening] == opening:
            opening += 1
        throughout = opening == len(imprints) and imprints[-1].step - imprints[0].step >= opening
        if opening > 1 and not throughout:
            yield _equal(name, [imprints[i] for i in group[:opening]], opening=True, consecutive=True)
        if opening < len(group) or throughout:
            consecutive = group[-1] - group[0] == len(group) - 1
            yield _equal(name, [imprints[i] for i in group], opening=False, consecutive=consecutive)


def _equal(name: str, members: Sequence[Imprint], opening: bool, consecutive: bool) -> Finding:
    states = {one.state for one in members}
    if None in states:
        kind = "no-update-yet" if opening else "duplicate-checkpoint"
        beside = (
            "nothing of the trainer's lies beside them" if members[0].tensors else "nothing else was read"
        )
        beside += " to tell one file from two"
    elif len(states) == 1:
        kind, beside = "same-file", "the trainer's own files are equal too"
    else:
        kind = "no-update-yet" if opening else "no-update" if consecutive else "duplicate-checkpoint"
        beside = "the trainer's own files differ"
    bytes_ = "byte for byte" if len({one.hash for one in members}) == 1 else "in files that differ"
    count = len(members[0].tensors)
    where = f"all {count} tensors" if count else "all files"
    seen = f"steps {listed([one.step for one in members])} agree in {where}, {bytes_}; {beside}"
    return Finding(kind, name, seen, tuple(one.step for one in members), numbers={"tensors": count})
