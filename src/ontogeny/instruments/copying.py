"""HEA-04."""

from torch import Tensor

from ontogeny.anatomy import HeadGains
from ontogeny.catalogue import instrument
from ontogeny.numerics.head_circuits import eigenvalues
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.vocabulary import Reading, Status, undefined

#: Below this sum of magnitudes there is no circuit to speak of.
LEAST = 1e-12


@instrument(
    unit="score",
    source="Elhage et al. 2021, transformer circuits (recalled)",
    family="heads",
    null="shuffled_label",
    version=2,
)
def copying(
    head_value: Tensor, head_output_weight: Tensor, head_gains: HeadGains, token_ends: TokenEnds
) -> Reading:
    """Whether a head raises the logits of the tokens it looks at, by its weights alone.

    Re Σλ / Σ|λ| over the eigenvalues λ of W_V W_E W_U W_O (channel × channel): the non-zero ones of the map
    from every token to every logit. Gains are folded in: of the norm before attention, of one on what
    attention adds, of the final norm. Heads of a group share their W_V. Between −1 and 1. Null: the logits'
    labels shuffled.

    Known: W_O = W_Vᵀ with W_U = W_Eᵀ -> 1; W_O negated -> −1; random weights -> 0 ± 1.5 / d_head.
    Misleads: it sees the direct path only; a norm's division, its mean and its bias are left out, as are the
    norms that a post-norm model applies to the whole stream, and what later layers make of it. One token
    with a large norm can carry the score, and so can a direction that all tokens share: read it beside its
    null, which is at 0.9 in some heads of small models. `zero-weight` where Σ|λ| < 1e-12.
    """
    read = head_value.double() * head_gains.read.double()
    written = head_output_weight.double() * head_gains.written.double()[:, None]
    found = eigenvalues(read @ token_ends.meeting @ written)
    if isinstance(found, Reading):
        return found
    size = found.abs().sum()
    if size < LEAST:
        return undefined(Status.ZERO_WEIGHT, f"the eigenvalues' magnitudes sum to {size:.3g}", n=len(found))
    return Reading(found.real.sum() / size, n=len(found))
