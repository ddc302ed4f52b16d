"""STA-03."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as theirs

from ontogeny.errors import BadArgument
from ontogeny.statistics.mcnemar import mcnemar


def test_the_table():
    assert mcnemar(10, 2).value == pytest.approx(0.03857, abs=5e-6)
    assert (mcnemar(0, 0).value, mcnemar(0, 0).n) == (1, 0)


@pytest.mark.parametrize(("gained", "lost"), [(0, 1), (5, 5), (3, 17), (120, 90)])
def test_statsmodels_agrees(gained, lost):
    found = mcnemar(gained, lost)
    assert found.value == pytest.approx(theirs(np.array([[7, gained], [lost, 9]]), exact=True).pvalue)
    assert found.value == mcnemar(lost, gained).value
    assert found.n == gained + lost


def test_items_are_counted():
    with pytest.raises(BadArgument, match="counted"):
        mcnemar(-1, 3)
