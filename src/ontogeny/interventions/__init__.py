"""Changes to training, each with a window, a state and a sham; one file each."""

from ontogeny.interventions.batch_size import batch_size
from ontogeny.interventions.data_mixture import data_mixture
from ontogeny.interventions.dropout import dropout
from ontogeny.interventions.freeze import freeze
from ontogeny.interventions.gradient_freeze import gradient_freeze
from ontogeny.interventions.learning_rate import learning_rate
from ontogeny.interventions.nudge import nudge
from ontogeny.interventions.reinitialise_attention import reinitialise_attention
from ontogeny.interventions.replace_data import replace_data
from ontogeny.interventions.reset_moments import reset_moments
from ontogeny.interventions.shrink_and_perturb import shrink_and_perturb
from ontogeny.interventions.skip_data import skip_data
from ontogeny.interventions.stop_on_nonfinite import stop_on_nonfinite
from ontogeny.interventions.stop_on_plateau import stop_on_plateau
from ontogeny.interventions.swap_optimizer import swap_optimizer
from ontogeny.interventions.weight_decay import weight_decay

__all__ = [
    "batch_size",
    "data_mixture",
    "dropout",
    "freeze",
    "gradient_freeze",
    "learning_rate",
    "nudge",
    "reinitialise_attention",
    "replace_data",
    "reset_moments",
    "shrink_and_perturb",
    "skip_data",
    "stop_on_nonfinite",
    "stop_on_plateau",
    "swap_optimizer",
    "weight_decay",
]
