"""Many runs: grids of recipes trained on several workers, and measured on them."""

from ontogeny.sweep.grid import Planned, load_grid, seeded, seeds
from ontogeny.sweep.ledger import Entry, Ledger, State
from ontogeny.sweep.measuring import measure_many
from ontogeny.sweep.training import sweep

__all__ = ["Entry", "Ledger", "Planned", "State", "load_grid", "measure_many", "seeded", "seeds", "sweep"]
