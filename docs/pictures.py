"""Draw docs/reference/images/: every measuring part's number on a real run.

`python docs/pictures.py` trains and measures what is not there yet (half an hour on one thread, or give a
folder of such runs with --runs) and draws every part; with names of parts it draws those alone. The same runs
give the same pictures.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import torch
from reference import HOME, measuring_parts

from ontogeny.catalogue import Part, parts
from ontogeny.detect import detect
from ontogeny.measure import measure
from ontogeny.record.recipe import load_recipe
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import carry_on, run_identity
from ontogeny.record.training import Training, objective_of
from ontogeny.report import draw
from ontogeny.report.theme import LIGHT
from ontogeny.store.run import MANIFEST, Run
from ontogeny.views import head_timeline, part_over_time
from ontogeny.views.figure import Figure, Panel, Rule
from ontogeny.views.tables import of_part, placed, words
from ontogeny.views.telemetry import DENSE, banded, training_rows

RUNS = Path("runs/pictures")
RECIPES = ("letters", "induction")
#: The recipe every part is shown on, and the families that are shown on the others too.
EVERYWHERE, ALSO = "letters", ("heads",)
ONLINE_EVERY = 10
#: Pixels of a picture with one and with more panels, and the paper around it.
WIDE, WIDER, MARGIN = 380.0, 800.0, 12.0
#: Bytes a picture may have.
MOST = 15_000


def run_of(home: Path, name: str, measured: list[str]) -> Run:
    """The recipe's finished run with these parts measured; trained first where it is not there."""
    path = home / name
    if not (path / MANIFEST).exists():
        train(path, name)
    if Run.open(path).outcome != "finished":
        sys.exit(f"{path} was stopped before its end; remove it, and it is trained anew")
    measure(path, measured, done=lambda step: print(f"{name}: measured step {step:,}", flush=True))
    return Run.open(path)


def train(path: Path, name: str) -> None:
    """Train a recipe with the online parts recorded that summaries read and no recorder records by itself."""
    recipe = load_recipe(name)
    training = Training(recipe, objective_of(recipe, path))
    read = {name for summary in parts("summary").values() for name in summary.options["telemetry"]}
    online = [name for name, made in parts("instrument").items() if made.online and name in read - set(DENSE)]
    print(f"{name}: training {recipe.training.steps:,} steps", flush=True)
    with Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=recipe.recording.scheduled(recipe.training.steps),
        parts={key: part for key, part in training.state.items() if key not in ("model", "optimizer")},
        identity=run_identity(training),
        keep_optimizer=recipe.recording.keep_optimizer,
        tokenizer=getattr(getattr(training.objective, "corpus", None), "tokenizer", None),
        every=dict.fromkeys(online, ONLINE_EVERY),
    ) as recorder:
        carry_on(training, recorder, recipe.training.steps, lambda step, found: None)


def figure_of(part: Part, run: Run, rows: pd.DataFrame, transitions: pd.DataFrame) -> Figure:
    """A part's number over a run: heads as heads are drawn, everything else a line a place.

    One number of a whole course that was read off telemetry stands beside the telemetry.
    """
    mine = of_part(rows, part.name)
    stimuli = [name for name in (*part.stimuli, *mine["stimulus_name"].dropna()) if name]
    mine = mine[mine["stimulus_name"].fillna("").isin(("", *stimuli[:1]))]
    if len(placed(mine, "head")):
        shown = head_timeline(mine, of_part(transitions, part.name), parts=[part.name], named=2).panels
        panels = tuple(replace(panel, y=part.unit) for panel in shown)
        return Figure(part.name, panels, columns=min(2, len(panels)))
    own = mine[mine["component"] == ""]
    if own["step"].nunique() == 1 and part.options.get("telemetry"):
        return telemetry_figure(part, run, mine, float(own["value"].iloc[0]))
    return part_over_time(mine, part=part.name, unit=part.unit)


def telemetry_figure(part: Part, run: Run, mine: pd.DataFrame, value: float) -> Figure:
    """What a number of the whole course was read off, and the moments that the part points at in it."""
    read = part.options["telemetry"]
    known = training_rows(run.telemetry(*read))
    panels = []
    for metric in read:
        moments = mine[mine["component"].str.startswith(metric) & (mine["step"] < mine["step"].max())]
        rules = [Rule(float(step)) for step in moments["step"]]
        marked = ", ".join(words(name) for name in moments["component"].unique())
        marks = (*banded(known, metric, "", window=0.1, most=60, scale="step"), *rules)
        panels.append(Panel(words(metric), marks, y=marked and f"hairlines: {marked}"))
    told = f"{part.unit} {value:.3g}"
    return Figure(part.name, (replace(panels[0], latest=told), *panels[1:]), columns=min(2, len(panels)))


def titled(figure: Figure, recipe: str) -> Figure:
    """The figure with the recipe in its titles, where a part is shown on several."""
    panels = (replace(panel, title=f"{panel.title} · {recipe}") for panel in figure.panels)
    return replace(figure, panels=tuple(panels))


def picture(figure: Figure) -> str:
    """The figure on paper of its own, so that it reads on a dark page too."""
    svg = draw(figure, width=WIDE if len(figure.panels) == 1 else WIDER, title=False)
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    root = ElementTree.fromstring(svg)
    wide, high = (float(root.attrib[side]) + 2 * MARGIN for side in ("width", "height"))
    root.attrib |= {"viewBox": f"{-MARGIN:g} {-MARGIN:g} {wide:g} {high:g}"}
    root.attrib |= {"width": f"{wide:g}", "height": f"{high:g}"}
    paper = {"x": f"{-MARGIN:g}", "y": f"{-MARGIN:g}", "width": "100%", "height": "100%", "fill": LIGHT.paper}
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        path.attrib["d"] = shorter(path.attrib["d"])
    root.insert(0, ElementTree.Element("rect", paper))
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def shorter(path: str) -> str:
    """The same path to a tenth of a pixel; the points of a polyline need no letter each."""
    path = re.sub(r"(\.\d)\d+", r"\1", path).replace(".0 ", " ")
    return path if set(re.findall("[A-Za-z]", path)) - set("MLz") else path.replace(" L ", " ")


def recipes_for(part: Part) -> list[str]:
    """The recipes a part is shown on."""
    return [name for name in RECIPES if name == EVERYWHERE or part.family in ALSO]


def draw_pictures(home: Path, chosen: Mapping[str, Part], images: Path) -> list[str]:
    """Draw the chosen parts; what is wrong with the pictures."""
    wrong = []
    for recipe in RECIPES:
        shown = [part for part in chosen.values() if recipe in recipes_for(part)]
        if not shown:
            continue
        run = run_of(home, recipe, [part.name for part in shown])
        rows = run.table()
        heads = sorted(placed(rows, "part", "head")["part"].unique())
        transitions: Any = detect(run.path, heads)
        for part in shown:
            figure = figure_of(part, run, rows, transitions)
            svg = picture(figure if len(recipes_for(part)) == 1 else titled(figure, recipe))
            (images / f"{part.name}.{recipe}.svg").write_text(svg, encoding="utf-8")
            if len(svg.encode()) > MOST:
                wrong.append(f"{part.name} on {recipe} has {len(svg.encode()):,} bytes; {MOST:,} are allowed")
    return wrong


def remove_others(images: Path) -> None:
    """Remove pictures that no part of the catalogue asks for."""
    known = measuring_parts()
    wanted = {f"{part.name}.{recipe}.svg" for part in known.values() for recipe in recipes_for(part)}
    for path in images.iterdir():
        if path.name not in wanted:
            path.unlink()


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("parts", nargs="*", help="names of measuring parts (default: all)")
    told.add_argument("--runs", type=Path, default=RUNS, help=f"where the runs are or go (default: {RUNS})")
    asked = told.parse_args()
    torch.set_num_threads(1)
    known = measuring_parts()
    if unknown := [name for name in asked.parts if name not in known]:
        sys.exit(f"no measuring parts: {', '.join(unknown)}; there are {', '.join(known)}")
    images = HOME / "images"
    images.mkdir(parents=True, exist_ok=True)
    wrong = draw_pictures(asked.runs, {n: known[n] for n in asked.parts} if asked.parts else known, images)
    remove_others(images)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
