"""A loaded model one can run, read and edit."""

from ontogeny.subject.loading import load_subject
from ontogeny.subject.subject import Subject

__all__ = ["Subject", "load_subject"]
