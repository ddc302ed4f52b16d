"""One writer at a time, by name, over processes."""

import os

import pytest

from ontogeny.errors import RunHeld
from ontogeny.store.files import TEMPORARY
from ontogeny.store.lock import held


def test_the_holder_is_named_and_other_kinds_of_writing_are_free(tmp_path):
    with held(tmp_path, "writer", "written"):
        with pytest.raises(RunHeld, match=f"process {os.getpid()}"), held(tmp_path, "writer", "written"):
            pass
        with held(tmp_path, "measuring", "measured"):
            pass
    with held(tmp_path, "writer", "written"):
        pass


def test_it_dies_with_its_process(tmp_path):
    child = os.fork()
    if child == 0:
        with held(tmp_path, "writer", "written"):
            os.kill(os.getpid(), 9)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == 9, "it held the run when it was killed"
    again = pytest.raises(RunHeld, match=f"process {os.getpid()}")
    with held(tmp_path, "writer", "written"), again, held(tmp_path, "writer", "written"):
        pass


def test_leftovers_of_killed_writers_are_swept_by_who_holds_it(tmp_path):
    (tmp_path / "rows").mkdir()
    left = tmp_path / "rows" / f".x{TEMPORARY}"
    left.write_text("half")
    with held(tmp_path, "measuring", "measured", ("rows",)):
        assert not left.exists()
