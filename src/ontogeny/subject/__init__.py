"""A loaded model one can run, read and edit."""

from ontogeny.subject.subject import Subject

__all__ = ["Subject"]
