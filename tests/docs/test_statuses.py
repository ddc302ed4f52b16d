import re

from ontogeny.vocabulary import Status


def test_every_status_that_a_docstring_names_is_found_in_the_code(reference, statuses):
    every = {str(status) for status in Status}
    anywhere = statuses.GENERAL | {Status.NO_TARGET, Status.NOT_OBSERVABLE}
    named = 0
    for name, part in reference.measuring_parts().items():
        told = set(re.findall(r"`([a-z-]+)`", part.make.__doc__)) & every
        found = set(statuses.statuses_of(part))
        assert told - anywhere <= found, name
        named += len(told - anywhere)
    assert named > 10


def test_what_is_needed_counts_and_what_is_not_called_does_not(reference, statuses):
    parts = reference.measuring_parts()
    assert "zero-weight" in statuses.statuses_of(parts["copying"])
    assert "zero-weight" not in statuses.statuses_of(parts["heldout_loss"])
    assert "no-target" in statuses.statuses_of(parts["heldout_loss"])
