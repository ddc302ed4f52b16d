"""Decompositions and similarities in float64 that answer bad input with a status, never with an exception."""
