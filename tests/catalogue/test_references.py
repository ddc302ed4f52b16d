"""What a comparison may be compared with."""

import pytest

from ontogeny.catalogue import back
from ontogeny.catalogue.references import checked_references
from ontogeny.errors import BadContract


def test_references_are_checked_where_a_part_is_declared():
    assert back(3) == ("previous-1", "previous-2", "previous-3")
    assert checked_references(["first", "previous-2"]) == ("first", "previous-2")
    for wrong in ("last", "previous-0", ("first", "next"), ()):
        with pytest.raises(BadContract, match="before, after, or previous-2"):
            checked_references(wrong)
