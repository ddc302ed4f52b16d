"""Any `nn.Module`: its modules and matrices can be seen, and nothing is known of what they mean."""

from torch import nn

from ontogeny.anatomy.anatomy import AT_ATTENTION, AT_MODULES, Anatomy

WHY = "nothing says what the modules of a {} mean; they can be seen by their paths, at site 'module'"


def read_module(model: nn.Module) -> Anatomy:
    """A map without layers: only site `module`, matrices and parameters."""
    name = type(model).__name__
    return Anatomy(
        family=name,
        layers=0,
        heads=0,
        width=0,
        vocabulary=0,
        context=0,
        blocks=(),
        attention=(),
        notes=dict.fromkeys((*AT_MODULES, *AT_ATTENTION, "head", "readout"), WHY.format(name)),
        guessed=True,
    )
