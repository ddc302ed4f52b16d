"""Other people's files, read into the laboratory's words."""

from ontogeny.bridges.evaluations import Evaluation, Evaluations, read_evaluations

__all__ = ["Evaluation", "Evaluations", "read_evaluations"]
