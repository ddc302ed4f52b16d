"""A loaded model one can run, read and edit."""

from ontogeny.subject.loading import load_subject, subject_of
from ontogeny.subject.opening import open_subject
from ontogeny.subject.subject import Subject

__all__ = ["Subject", "load_subject", "open_subject", "subject_of"]
