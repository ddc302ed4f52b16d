"""Measure: every part at every checkpoint of a series, one fused pass a stimulus, nothing twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ontogeny.audit import Audit, look_over, warn_of_errors
from ontogeny.measure.plan import Price, Request, Session, price
from ontogeny.measure.summaries import summarise
from ontogeny.measure.workers import measure_steps
from ontogeny.series import FETCHED, Series, TokenRule, write_steps
from ontogeny.store.arrays import compact_arrays
from ontogeny.store.fits import compact_fits
from ontogeny.store.lock import held
from ontogeny.store.rows import compact_rows

__all__ = ["Price", "Request", "Session", "explain", "measure"]


def measure(
    series: Path | str | Series,
    parts: Sequence[str] = (),
    *,
    home: Path | str | None = None,
    text: Path | str | None = None,
    pattern: str | None = None,
    tokens: TokenRule | None = None,
    trust: bool = False,
    workers: int = 1,
    budget: float | None = None,
    audited: Callable[[Audit], None] = warn_of_errors,
    begin: Callable[[list[int]], None] = lambda steps: None,
    done: Callable[[int], None] = lambda step: None,
) -> int:
    """Measure what is missing; returns how many checkpoints had something missing.

    series   whatever `Series.open` opens, or a series that is open
    parts    names, calls such as `cka(variant='biased')`, families such as `heads.*`, patterns; none means
             every instrument, comparison and summary, and `*` the whole catalogue
    home     where the rows go (default: the run, or `ontogeny/` in a foreign folder)
    text     natural text for a foreign series, tokenised by its own tokenizer
    pattern, tokens, trust   as for `Series.open`
    workers  processes, one thread each
    budget   seconds of one thread's work over the whole series: the cheapest parts first, by prices that are
             measured once and kept; what is too dear gets rows with status `over-budget`
    audited  is given what a look at the hashes of a foreign series found, before anything is run; it is kept
             as `audit.json` in `home`. The default warns of errors (AuditWarning); nothing is refused

    A checkpoint that cannot be loaded does not keep the others from being measured; its error is raised at
    the end. RunHeld if another process measures the same series.
    """
    opened = _opened(series, home, pattern, tokens, trust)
    if workers > 1:
        opened.require_portable()
    asked = Request(opened, None, tuple(parts), Path(text) if text else None, budget=budget)
    session = Session(asked)
    home = opened.home
    home.mkdir(parents=True, exist_ok=True)
    with held(home, "measuring", "measured", ("rows", "arrays", "fits", FETCHED)):
        write_steps(home, opened.checkpoints)
        audited(look_over(opened))
        steps = [checkpoint.step for checkpoint in session.todo()]
        begin(steps)
        outcome = measure_steps(session, steps, workers, done)
        summarise(session)
        compact_rows(home)
        compact_arrays(home)
        compact_fits(home)
    outcome.require_all()
    return outcome.measured


def explain(
    series: Path | str | Series,
    parts: Sequence[str] = (),
    *,
    home: Path | str | None = None,
    text: Path | str | None = None,
    pattern: str | None = None,
    trust: bool = False,
    budget: float | None = None,
) -> Price:
    """What `measure` would do and cost, measured on one checkpoint."""
    opened = _opened(series, home, pattern, None, trust)
    return price(Session(Request(opened, None, tuple(parts), Path(text) if text else None, budget=budget)))


def _opened(
    series: Path | str | Series,
    home: Path | str | None,
    pattern: str | None,
    tokens: TokenRule | None,
    trust: bool,
) -> Series:
    if isinstance(series, Series):
        return series if home is None else series.kept_in(home)
    return Series.open(series, home, pattern=pattern, tokens=tokens, trust=trust)
