"""Noise scales, crossings and exceedance probabilities: what a claim about a series rests on."""
