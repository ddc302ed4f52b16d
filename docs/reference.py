"""Write docs/reference/ from the catalogue: a page a family of measuring parts, a page a kind of the others.

`--check` fails if a page is stale, a measuring part has no picture (docs/pictures.py) or a picture no part.
"""

import inspect
import re
import sys
from pathlib import Path

from statuses import statuses_of

from ontogeny.catalogue import KINDS, Part, parts
from ontogeny.catalogue.part import FAMILIES, MEASURING
from ontogeny.evidence import WITHOUT_PASS

HOME = Path(__file__).parent / "reference"
PIPE = "\\|"
NOTICE = "Generated from the catalogue by `make docs`, pictures by `make docs-pictures`; do not edit."
#: Where a definition comes from, as parts say it in their source.
TAGS = ("checked", "recalled", "from abstract", "definition ours")
#: Pictures on this recipe come first.
FIRST = ".letters."
PICTURES = """\
Pictures show a part's own number (or, where it has none, its numbers by name) on a run of the shipped
recipe `letters`: a Llama of 4 layers with 4 heads that learns Python's source for 1,000 steps, with 27
checkpoints, at each of which the held-out loss is taken; `gradient_stability` is recorded every 10 steps.
Heads are shown on `induction` too. The step axis is ln(1 + step); marks on it are checkpoints. One line a
layer, the first darkest. More than six places are drawn as the band that holds all of them, the band of the
middle 80 % and the two lines that end highest and lowest. Grey bands of heads are the shuffled null; a
hairline with a band is a transition that `half_rise` claims, with its interval. Circles above a plot are
numbers that are undefined, crosses ones that are not finite."""
STATUSES = """\
Beside what a page lists, any part can give `not-observable` (the model or the series does not offer what it
needs), `no-target` (the data cannot give its stimulus, or there is no checkpoint to compare with),
`over-budget`, `nonfinite` (an input or the number itself is not finite) and `failed` (with the error as its
reason)."""


def plural(kind: str) -> str:
    """The name of a kind's folder and page."""
    return {"stimulus": "stimuli", "summary": "summaries"}.get(kind, f"{kind}s")


def paragraphs(part: Part) -> tuple[str, str]:
    """Its meaning and its formula: the docstring up to `Known:`, as Markdown."""
    first, *others = (inspect.getdoc(part.make) or "").split("\n\n")
    told = []
    for paragraph in others:
        if re.match(r"(Known|Misleads|Null):", paragraph):
            break
        told.append(markdown(" ".join(paragraph.split())))
    return markdown(" ".join(first.split())), "\n\n".join(told)


def markdown(text: str) -> str:
    """Plain words with formulas, so that nothing but what stands in backticks means anything to Markdown."""
    pieces = re.split(r"(`[^`]+`)", text)
    for index, piece in enumerate(pieces):
        if not piece.startswith("`"):
            escaped = re.sub(r"[\\*<]", r"\\\g<0>", piece.replace("->", "→"))
            pieces[index] = re.sub(r"(?<!\w)_|_(?!\w)", r"\_", escaped)
    return "".join(pieces)


def tags_of(part: Part) -> list[str]:
    """`checked`, `recalled`, `from abstract`, `definition ours`: what its source says of its definition."""
    return [tag for tag in TAGS if tag in part.source]


def compared_with(part: Part) -> str:
    """The reference checkpoints of a comparison, and whether it also compares layers."""
    reference = part.options.get("reference", ())
    names = (reference,) if isinstance(reference, str) else reference
    said = [f"checkpoints: {', '.join(names)}"] if names else []
    said += ["every other layer of the same checkpoint"] if part.options.get("layers") else []
    return "; ".join(said)


def facts(part: Part) -> list[str]:
    """What its declaration says, one line each."""
    seen = part.stimuli if not part.at or set(part.at) - WITHOUT_PASS else ()
    of = [need for need in part.needs if need != "telemetry"]
    said = [("kind", part.kind), ("family", part.family), ("unit", part.unit)]
    said += [("one number a", ", ".join(part.axes)), ("keeps an array of", ", ".join(part.array))]
    said += [("measured at", ", ".join(part.at)), ("stimuli", ", ".join(seen)), ("needs", ", ".join(of))]
    said += [("reads telemetry", ", ".join(part.options.get("telemetry", ())))]
    said += [("compared with", compared_with(part)), ("null", part.null or "")]
    said += [("online", "while a model is trained: `Recorder(every=…)`" if part.online else "")]
    said += [("parameters", ", ".join(f"`{k}={v!r}`" for k, v in part.parameters.items()))]
    if part.kind in MEASURING:
        said += [("statuses", ", ".join(f"`{one}`" for one in statuses_of(part)))]
    tags = ", ".join(f"`{tag}`" for tag in tags_of(part))
    said += [("source", markdown(part.source)), ("tag", tags)]
    return [f"- **{name}**: {value}" for name, value in said if value]


def pictured(home: Path) -> dict[str, list[Path]]:
    """Pictures by the part they are named after: `<part>.<recipe>.svg`."""
    found: dict[str, list[Path]] = {}
    for path in sorted((home / "images").glob("*"), key=lambda path: (FIRST not in path.name, path.name)):
        found.setdefault(path.name.partition(".")[0], []).append(path)
    return found


def measuring_entry(part: Part, pictures: list[Path]) -> str:
    """One measuring part: meaning, picture, formula, what is known, how it misleads, and its declaration."""
    meaning, formula = paragraphs(part)
    shown = [f"![{part.name} on {path.suffixes[0][1:]}](images/{path.name})" for path in pictures]
    said = [f"## {part.name}", meaning, "\n".join(shown), formula and f"**Formula:** {formula}"]
    said += [
        f"**{word}:** {markdown(text)}" for word in ("Known", "Misleads", "Null") if (text := part.said(word))
    ]
    return "\n\n".join(filter(None, [*said, "\n".join(facts(part))])) + "\n"


def entry(part: Part) -> str:
    """One part of another kind: its docstring as it stands, and what its declaration says."""
    text = inspect.getdoc(part.make) or ""
    return f"## {part.name}\n\n```text\n{text}\n```\n\n" + "\n".join(facts(part)) + "\n"


def measuring_parts() -> dict[str, Part]:
    """Every part that measures, by name, in the order of names."""
    return dict(sorted((name, part) for kind in MEASURING for name, part in parts(kind).items()))


def families() -> dict[str, list[Part]]:
    """Measuring parts by family, in the families' own order; one without a family is an error."""
    known = measuring_parts().values()
    if lost := [part.name for part in known if part.family not in FAMILIES]:
        sys.exit(f"measuring parts without a family: {', '.join(lost)}")
    grouped = {family: [part for part in known if part.family == family] for family in FAMILIES}
    return {family: held for family, held in grouped.items() if held}


def index_table(family: str, held: list[Part]) -> str:
    """One family's parts, a row each."""
    lines = ["| part | kind | unit | what it tells | definition |", "| - | - | - | - | - |"]
    for part in held:
        name = f"[{part.name}]({family}.md#{part.name})"
        cells = (name, part.kind, part.unit, markdown(part.meaning), ", ".join(tags_of(part)))
        lines.append(f"| {' | '.join(cell.replace('|', PIPE) for cell in cells)} |")
    return "\n".join(lines)


def pages(home: Path = HOME) -> dict[Path, str]:
    """Every page by its path."""
    found, pictures = {}, pictured(home)
    index = ["# Reference", NOTICE, "## What measures", PICTURES, STATUSES]
    for family, held in families().items():
        title, meaning = family.capitalize(), FAMILIES[family]
        index += [
            f"### [{title}]({family}.md)",
            f"{meaning[0].upper()}{meaning[1:]}.",
            index_table(family, held),
        ]
        entries = [measuring_entry(part, pictures.get(part.name, [])) for part in held]
        found[home / f"{family}.md"] = "\n".join([f"# {title}\n\n{meaning}\n\n{NOTICE}\n", *entries])
    index.append("## Everything else")
    rest = []
    for kind, meaning in KINDS.items():
        if kind in MEASURING or not (made := parts(kind)):
            continue
        head = f"# {plural(kind).capitalize()}\n\n{meaning}\n\n{NOTICE}\n"
        found[home / f"{plural(kind)}.md"] = "\n".join([head, *(entry(part) for part in made.values())])
        names = ", ".join(f"[{name}]({plural(kind)}.md#{name})" for name in made)
        rest.append(f"- [{plural(kind)}]({plural(kind)}.md): {meaning}. {names}")
    found[home / "README.md"] = "\n\n".join([*index, "\n".join(rest)]) + "\n"
    return found


def complaints(home: Path = HOME) -> list[str]:
    """What is wrong with the folder: stale or left-over pages, parts without a picture and the reverse."""
    wanted, pictures, known = pages(home), pictured(home), measuring_parts()
    stale = [
        path.name for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    found = {
        "stale pages (make docs)": stale,
        "pages of nothing (make docs)": [p.name for p in home.glob("*.md") if p not in wanted],
        "parts without a picture (make docs-pictures)": [name for name in known if name not in pictures],
        "pictures of no part (make docs-pictures)": [name for name in pictures if name not in known],
    }
    return [f"{what}: {', '.join(sorted(names))}" for what, names in found.items() if names]


def main() -> None:
    if "--check" in sys.argv:
        if found := complaints():
            sys.exit("docs/reference: " + "; ".join(found))
        return
    wanted = pages()
    HOME.mkdir(exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in HOME.glob("*.md"):
        if path not in wanted:
            path.unlink()


if __name__ == "__main__":
    main()
