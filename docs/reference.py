"""Write docs/reference/ from the catalogue: one page a kind of part. `--check` fails if a page is stale."""

import inspect
import sys
from pathlib import Path

from ontogeny.catalogue import KINDS, Part, parts

HOME = Path(__file__).parent / "reference"
NOTICE = "Generated from the catalogue by `make docs`; do not edit."


def plural(kind: str) -> str:
    """The name of a kind's folder and page."""
    return {"stimulus": "stimuli", "summary": "summaries"}.get(kind, f"{kind}s")


def compared_with(part: Part) -> str:
    """The reference checkpoints of a comparison, and whether it also compares layers."""
    reference = part.options.get("reference", ())
    names = (reference,) if isinstance(reference, str) else reference
    said = [f"checkpoints: {', '.join(names)}"] if names else []
    said += ["every other layer of the same checkpoint"] if part.options.get("layers") else []
    return "; ".join(said)


def entry(part: Part) -> str:
    """One part: its docstring as it stands, and what its declaration says."""
    facts = [("unit", part.unit), ("family", part.family), ("axes", ", ".join(part.axes))]
    facts += [("keeps an array of", ", ".join(part.array)), ("measured at", ", ".join(part.at))]
    facts += [("online", "while a model is trained: Recorder(every=…)" if part.online else "")]
    facts += [("reads telemetry", ", ".join(part.options.get("telemetry", ())))]
    facts += [("stimuli", ", ".join(part.stimuli)), ("null", part.null or ""), ("source", part.source)]
    facts += [("compared with", compared_with(part))]
    facts += [("needs", ", ".join(part.needs))]
    facts += [("parameters", ", ".join(f"{k}={v!r}" for k, v in part.parameters.items()))]
    lines = [f"- **{name}**: {value}" for name, value in facts if value]
    text = inspect.getdoc(part.make) or ""
    return f"## {part.name}\n\n```text\n{text}\n```\n\n" + "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every page by its path."""
    found = {}
    index = ["# Reference", "", NOTICE, ""]
    for kind, meaning in KINDS.items():
        made = parts(kind)
        if not made:
            continue
        head = f"# {plural(kind).capitalize()}\n\n{meaning}\n\n{NOTICE}\n"
        found[HOME / f"{plural(kind)}.md"] = head + "\n" + "\n".join(entry(part) for part in made.values())
        names = ", ".join(made)
        index.append(f"- [{plural(kind)}]({plural(kind)}.md): {meaning}. {names}")
    found[HOME / "README.md"] = "\n".join(index) + "\n"
    return found


def main() -> None:
    stale = []
    for path, text in pages().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"stale reference pages: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
