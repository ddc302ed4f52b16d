"""Parts that read one checkpoint at one place; one file each."""

from ontogeny.instruments.age_of_acquisition import age_of_acquisition
from ontogeny.instruments.alpha_req import alpha_req
from ontogeny.instruments.attention_entropy import attention_entropy
from ontogeny.instruments.backslide import backslide
from ontogeny.instruments.cka import cka
from ontogeny.instruments.copying import copying
from ontogeny.instruments.covariance_tail import covariance_tail
from ontogeny.instruments.dead_units import dead_units
from ontogeny.instruments.displacement_cosine import displacement_cosine
from ontogeny.instruments.distance_from_start import distance_from_start
from ontogeny.instruments.dormant_units import dormant_units
from ontogeny.instruments.duplicate_token import duplicate_token
from ontogeny.instruments.effective_rank import effective_rank
from ontogeny.instruments.entropy_dispersion import entropy_dispersion
from ontogeny.instruments.exact_sparsity import exact_sparsity
from ontogeny.instruments.forgettability import forgettability
from ontogeny.instruments.gradient_norm import gradient_norm
from ontogeny.instruments.gradient_stability import gradient_stability
from ontogeny.instruments.head_dimension import head_dimension
from ontogeny.instruments.head_redundancy import head_redundancy
from ontogeny.instruments.heldout_loss import heldout_loss
from ontogeny.instruments.induction import induction
from ontogeny.instruments.inverse_participation import inverse_participation
from ontogeny.instruments.learning_time_spectrum import learning_time_spectrum
from ontogeny.instruments.loss_improvement import loss_improvement
from ontogeny.instruments.loss_stagnation import loss_stagnation
from ontogeny.instruments.massive_activation import massive_activation
from ontogeny.instruments.mean_gradient_stability import mean_gradient_stability
from ontogeny.instruments.ngram_distance import ngram_distance
from ontogeny.instruments.participation_ratio import participation_ratio
from ontogeny.instruments.previous_token import previous_token
from ontogeny.instruments.prior_direction import prior_direction
from ontogeny.instruments.prior_loading import prior_loading
from ontogeny.instruments.probability_signature import probability_signature
from ontogeny.instruments.procrustes import procrustes
from ontogeny.instruments.pwcca import pwcca
from ontogeny.instruments.rank_residual import rank_residual
from ontogeny.instruments.rankme import rankme
from ontogeny.instruments.residual_growth import residual_growth
from ontogeny.instruments.residual_norm import residual_norm
from ontogeny.instruments.sink_mass import sink_mass
from ontogeny.instruments.sink_rate import sink_rate
from ontogeny.instruments.spectral_entropy import spectral_entropy
from ontogeny.instruments.spike_score import spike_score
from ontogeny.instruments.stable_rank import stable_rank
from ontogeny.instruments.subspace_overlap import subspace_overlap
from ontogeny.instruments.surprisal import surprisal
from ontogeny.instruments.svcca import svcca
from ontogeny.instruments.token_loss import token_loss
from ontogeny.instruments.token_similarity import token_similarity
from ontogeny.instruments.update_rank import update_rank
from ontogeny.instruments.update_ratio import update_ratio
from ontogeny.instruments.update_sparsity import update_sparsity
from ontogeny.instruments.volatility import volatility
from ontogeny.instruments.weight_tail_exponent import weight_tail_exponent

__all__ = [
    "age_of_acquisition",
    "alpha_req",
    "attention_entropy",
    "backslide",
    "cka",
    "copying",
    "covariance_tail",
    "dead_units",
    "displacement_cosine",
    "distance_from_start",
    "dormant_units",
    "duplicate_token",
    "effective_rank",
    "entropy_dispersion",
    "exact_sparsity",
    "forgettability",
    "gradient_norm",
    "gradient_stability",
    "head_dimension",
    "head_redundancy",
    "heldout_loss",
    "induction",
    "inverse_participation",
    "learning_time_spectrum",
    "loss_improvement",
    "loss_stagnation",
    "massive_activation",
    "mean_gradient_stability",
    "ngram_distance",
    "participation_ratio",
    "previous_token",
    "prior_direction",
    "prior_loading",
    "probability_signature",
    "procrustes",
    "pwcca",
    "rank_residual",
    "rankme",
    "residual_growth",
    "residual_norm",
    "sink_mass",
    "sink_rate",
    "spectral_entropy",
    "spike_score",
    "stable_rank",
    "subspace_overlap",
    "surprisal",
    "svcca",
    "token_loss",
    "token_similarity",
    "update_rank",
    "update_ratio",
    "update_sparsity",
    "volatility",
    "weight_tail_exponent",
]
