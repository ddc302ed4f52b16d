"""A loaded model one can run, read and edit."""

from ontogeny.subject.loading import load_subject, subject_of
from ontogeny.subject.subject import Subject

__all__ = ["Subject", "load_subject", "subject_of"]
