"""Detectors: one series in, when it changed out, or why nothing is claimed. One part a file."""
