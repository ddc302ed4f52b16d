"""What the token parts say of a model trained here: the recipe `letters`, at its own checkpoints.

Prints, with what is not seen as plainly as what is:
  - the n-gram order that the model is nearest to (`ngram_distance`), over training, each order on its own
    contexts and all on shared ones;
  - the learning-time spectrum against −dL/d log t with R², and how spread learning times are;
  - age of acquisition against token frequency;
  - the loading of the unigram prior, and how far vectors follow the surroundings of their tokens.

Takes three minutes of training and about two of measuring on one thread. A folder that is given keeps the
run: a second call measures and prints what is there.

OMP_NUM_THREADS=1 python benchmarks/own_series.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from ontogeny.measure import measure
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import train
from ontogeny.store.run import Run

PARTS = (
    "ngram_distance",
    "learning_time_spectrum",
    "age_of_acquisition",
    "forgettability",
    "prior_loading",
    "probability_signature",
    "heldout_loss",
    "surprisal",
)
#: Steps shown of a course; the others are in the run.
SHOWN = (0, 1, 4, 16, 32, 64, 128, 256, 512, 768, 1000)


def the_run(path: Path) -> Run:
    run = Run.open(path) if path.exists() else train(load_recipe("letters"), path, grade=False)
    measure(run.path, PARTS)
    return Run.open(path)


def course(run: Run, part: str, components: dict[str, str]) -> pd.DataFrame:
    """Components by their headings, one row a step."""
    table = run.table(part)
    found = table.pivot_table(index="step", columns="component", values="value", dropna=False)
    return found.reindex(columns=list(components)).rename(columns=components)


def overall(run: Run, part: str) -> pd.Series:
    """What a summary says of the whole course, by component."""
    table = run.table(part)
    whole = table[table["token"].isna() & (table["step"] == table["step"].max())]
    return whole.drop_duplicates("component").set_index("component")["value"]


def show(title: str, frame: pd.DataFrame | pd.Series) -> None:
    kept = frame[frame.index.isin(SHOWN)] if isinstance(frame, pd.DataFrame) else frame
    print(f"\n{title}\n{kept.round(3).to_string()}")


def ngram_orders(run: Run) -> None:
    orders = {f"distance_{n}": f"D_{n}" for n in range(1, 6)}
    orders |= {"order": "n*", "order_shared": "n* shared", "agreement_2": "top-1 = bigram's"}
    found = course(run, "ngram_distance", orders)
    show("n-gram distances, nats (own contexts of each order)", found)
    shared = {f"shared_{n}": f"D_{n}" for n in range(1, 6)}
    show("the same, on predictions that all orders cover", course(run, "ngram_distance", shared))
    show("coverage at the last step", _coverage(run))
    for name in ("n*", "n* shared"):
        told = found[name].dropna()
        falls = int((np.diff(told) < 0).sum())
        changes = told[told.diff().fillna(1) != 0]
        path = ", ".join(f"{order:.0f} from step {step}" for step, order in changes.items())
        print(f"{name}: {path}; it falls back {falls} times")


def _coverage(run: Run) -> pd.Series:
    table = run.table("ngram_distance")
    last = table[table["step"] == table["step"].max()].set_index("component")["value"]
    return last[[f"coverage_{n}" for n in range(1, 6)]]


def learning_times(run: Run) -> None:
    columns = {"measured": "−dL/d ln t", "spectrum": "spectrum"}
    show("learning-time spectrum, nats per e-fold", course(run, "learning_time_spectrum", columns))
    said = overall(run, "learning_time_spectrum")
    print(
        f"R² {said['']:.3f} ({said['unweighed']:.3f} with all intervals alike); "
        f"spread of ln learning times {said['spread']:.2f}, width of one {said['width']:.2f}"
    )
    print(f"{said['share_learned']:.0%} of predictions fall by 0.5 nats or more")


def ages(run: Run) -> None:
    for part in ("age_of_acquisition", "forgettability"):
        show(part.replace("_", " "), overall(run, part))


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        run = the_run(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch) / "letters")
        show("held-out loss, nats", course(run, "heldout_loss", {"": "loss"}))
        show("surprisal, bits", course(run, "surprisal", {"": "a token", "word": "a word"}))
        ngram_orders(run)
        learning_times(run)
        ages(run)
        loading = (
            "",
            "deviation",
            "with_position",
            "with_surprisal",
            "divergence_without",
            "divergence_as_is",
        )
        show("loading of the prior", course(run, "prior_loading", {name: name or "mean" for name in loading}))
        signature = ("", "previous", "context", "recall", "recall_previous")
        named = {name: name or "next" for name in signature}
        show("probability signatures", course(run, "probability_signature", named))


if __name__ == "__main__":
    main()
