"""How evaluations were made: settings, tasks and runs that change inside a series or a folder."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ontogeny.audit.finding import Finding, listed
from ontogeny.bridges import Evaluation, Evaluations

#: A series lacks tasks of its siblings if it has at least this share of theirs.
ALIKE = 0.8


def condition_findings(evaluations: Evaluations) -> Iterator[Finding]:
    """Mixed runs, steps missing or named twice, and settings and tasks that change, of every series."""
    yield from _unnamed(evaluations)
    yield from _mixed(evaluations)
    for name, members in evaluations.series().items():
        yield from _names(name, members)
        yield from _steps(name, members)
        yield from _settings(name, members)
        yield from _task_settings(name, members)
        yield from _tasks(name, members)
    yield from _fewer(evaluations.series())


def _unnamed(evaluations: Evaluations) -> Iterator[Finding]:
    without = [one.source for one in evaluations.all if one.step is None]
    if without:
        yield Finding(
            "no-step",
            evaluations.path.name,
            f"{len(without)} results files name no step: {listed(without)}",
            numbers={"files": len(without)},
        )


def _mixed(evaluations: Evaluations) -> Iterator[Finding]:
    folders: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for one in evaluations.all:
        if one.step is not None:
            folders[one.group][one.run].append(one.step)
    for folder, runs in folders.items():
        if len(runs) < 2:
            continue
        parts = [_span(run, steps) for run, steps in sorted(runs.items())]
        twice = set.intersection(*(set(s) for s in runs.values()))
        differ = _differing([one for one in evaluations.all if one.group == folder])
        yield Finding(
            "mixed-runs",
            folder,
            f"{len(runs)} runs: {listed(parts)}{differ}",
            steps=tuple(sorted(twice)),
            numbers={"runs": len(runs), "steps_in_all": len(twice)},
        )


def _names(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    files: dict[str, list[int]] = defaultdict(list)
    for one in members:
        files[one.file].append(one.step or 0)
    if len(files) > 1:
        parts = [_span(file, steps) for file, steps in sorted(files.items())]
        usual = max(files, key=lambda file: len(files[file]))
        odd = tuple(sorted(step for file, steps in files.items() if file != usual for step in steps))
        yield Finding(
            "several-names", name, f"files called {listed(parts)}", odd, numbers={"names": len(files)}
        )


def _span(name: str, steps: Sequence[int]) -> str:
    return f"{name} ({len(steps)} steps, {min(steps)} to {max(steps)})"


def _differing(members: Sequence[Evaluation]) -> str:
    """The settings that differ from run to run."""
    found = []
    for key in sorted({key for one in members for key in one.settings}):
        values: dict[str, set[str]] = defaultdict(set)
        for one in members:
            values[one.run].add(one.settings.get(key, "not given"))
        if len({frozenset(some) for some in values.values()}) > 1:
            found.append(f"{key} {' / '.join(', '.join(sorted(some)) for some in values.values())}")
    return f"; they differ in {listed(found)}" if found else ""


def _steps(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    counts = Counter(one.step for one in members if one.step is not None)
    twice = sorted(step for step, count in counts.items() if count > 1)
    if twice:
        differ = [s for s in twice if len({repr(one.values) for one in members if one.step == s}) > 1]
        seen = f"{len(twice)} steps have several results; at {len(differ)} of them the numbers differ"
        yield Finding("repeated-step", name, seen, steps=tuple(twice), numbers={"differ": len(differ)})
    wrong = [one for one in members if one.stated_step not in (None, one.step)]
    if wrong:
        seen = ", ".join(f"{one.source} was made from step {one.stated_step}" for one in wrong[:3])
        steps = tuple(one.step for one in wrong if one.step is not None)
        yield Finding("step-mismatch", name, seen, steps=steps, numbers={"files": len(wrong)})


def _settings(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    for key in sorted({key for one in members for key in one.settings}):
        values = [one.settings.get(key, "not given") for one in members]
        if len(set(values)) > 1:
            kind = "changed-batch-size" if key == "batch_size" else "changed-setting"
            yield _change(kind, name, key, members, values)


def _task_settings(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    for key in sorted({key for one in members for key in one.task_settings}):
        by_task: dict[str, set[str]] = defaultdict(set)
        for one in members:
            for task, value in one.task_settings.get(key, {}).items():
                by_task[task].add(value)
        changed = sorted(task for task, values in by_task.items() if len(values) > 1)
        if changed:
            tables = [one.task_settings.get(key, {}) for one in members]
            values = [str([table.get(task) for task in changed]) for table in tables]
            yield _change("changed-task-setting", name, f"{key} of tasks", members, values, changed)


def _change(
    kind: str,
    name: str,
    key: str,
    members: Sequence[Evaluation],
    values: Sequence[str],
    tasks: Sequence[str] = (),
) -> Finding:
    """Which value holds at which steps; the steps given are those without the commonest value."""
    counts = Counter(values)
    common = counts.most_common(1)[0][0]
    spans = []
    for value, count in counts.most_common(4):
        steps = [one.step or 0 for one, v in zip(members, values, strict=True) if v == value]
        spans.append(f"{value[:40]} at {count} steps ({min(steps)} to {max(steps)})")
    others = tuple(one.step or 0 for one, v in zip(members, values, strict=True) if v != common)
    seen = f"{key}: {'; '.join(spans)}"
    return Finding(kind, name, seen, steps=others, tasks=tuple(tasks), numbers={"values": len(counts)})


def _tasks(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    sets = [frozenset(one.values) for one in members]
    usual = Counter(sets).most_common(1)[0][0]
    odd: dict[frozenset[str], list[int]] = defaultdict(list)
    for one, tasks in zip(members, sets, strict=True):
        if tasks != usual:
            odd[tasks].append(one.step or 0)
    for tasks, steps in odd.items():
        changed = sorted(usual ^ tasks)
        where = f"step{'s' if len(steps) > 1 else ''} {listed(steps)}"
        seen = f"{where}: {len(tasks)} tasks where the other points have {len(usual)}"
        numbers = {"tasks": len(tasks), "usual": len(usual), "missing": len(usual - tasks)}
        yield Finding("changed-tasks", name, seen, tuple(steps), tasks=tuple(changed), numbers=numbers)


def _fewer(series: Mapping[str, Sequence[Evaluation]]) -> Iterator[Finding]:
    """Series that lack a few tasks of the set most like theirs that another series has."""
    usual = {
        name: Counter(frozenset(one.values) for one in members).most_common(1)[0][0]
        for name, members in series.items()
    }
    counts = Counter(usual.values())
    for name, own in usual.items():
        larger = [other for other in counts if own < other and len(own) >= ALIKE * len(other)]
        if larger:
            nearest = min(larger, key=lambda other: (len(other), -counts[other]))
            lacking = tuple(sorted(nearest - own))
            seen = f"lacks {listed(lacking)}; {counts[nearest]} other series have these {len(nearest)} tasks"
            numbers = {"tasks": len(own), "lacking": len(lacking)}
            yield Finding("fewer-tasks", name, seen, tasks=lacking, numbers=numbers)
