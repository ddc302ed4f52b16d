"""The command line: one command a stage."""

from ontogeny.cli.main import main

__all__ = ["main"]
