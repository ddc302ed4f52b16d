"""`ontogeny audit-items`: what one model gained and lost against another, and what of it is noise."""

from pathlib import Path

from rich.console import Console

from ontogeny.audit.items import audit_items

console = Console(highlight=False)


def audit_item_files(
    before: Path, after: Path, metric: str | None, threshold: float, alpha: float, out: Path | None
) -> None:
    """Audit and print; all items go to `out` as CSV."""
    found = audit_items(before, after, metric=metric, threshold=threshold, alpha=alpha)
    if out is not None:
        found.items.to_csv(out, index=False)
    console.print(found.text(), markup=False, soft_wrap=True)
