import errno
import os
import time
from pathlib import Path

import pytest
import xxhash

from ontogeny.errors import DiskFull, NotWritable, OntogenyError, RunExists
from ontogeny.store import files
from ontogeny.store.files import (
    check_writable,
    clear_temporaries,
    commit_folder,
    free_bytes,
    temporary_beside,
    write_file,
)


def test_what_is_written_is_there_and_its_hash_is_returned(tmp_path):
    data = os.urandom(3_000_000)
    for given in (data, memoryview(data), lambda file: [file.write(data[:17]), file.write(data[17:])]):
        written = write_file(tmp_path / "a", given)
        assert (tmp_path / "a").read_bytes() == data
        assert (written.bytes, written.hash) == (len(data), xxhash.xxh3_128_hexdigest(data))
    assert os.listdir(tmp_path) == ["a"]


def test_bytes_are_durable_before_the_name_and_the_name_before_the_return(tmp_path, monkeypatch):
    log = []
    for name in ("raw_write", "raw_fsync", "raw_rename"):
        plain = getattr(files, name)

        def logged(first, *rest, name=name, plain=plain):
            folder = isinstance(first, int) and os.path.isdir(f"/proc/self/fd/{first}")
            log.append(name + " folder" * folder)
            return plain(first, *rest)

        monkeypatch.setattr(files, name, logged)
    write_file(tmp_path / "a", b"x")
    assert log == ["raw_write", "raw_fsync", "raw_rename", "raw_fsync folder"]


@pytest.mark.parametrize("stays", [False, True])
def test_the_kth_failure_leaves_the_old_file_or_the_new_one_whole(tmp_path, disk, code, stays):
    path, old, new = tmp_path / "a", b"old" * 1000, b"new" * 2000
    write_file(path, old)
    for at in range(1, 20):
        disk.arm(at, code, stays)
        try:
            write_file(path, lambda file: [file.write(new[:10]), file.write(new[10:])])
        except OntogenyError as error:
            raised = error
        else:
            assert not disk.struck
            break
        disk.disarm()
        assert isinstance(raised, DiskFull) == (code in (errno.ENOSPC, errno.EDQUOT))
        assert errno.errorcode[code] in str(raised)
        assert str(path) in str(raised)
        last_step = at == 5  # two writes, fsync, rename, then the folder's fsync
        assert path.read_bytes() == (new if last_step else old)
        assert os.listdir(tmp_path) == ["a"]
        write_file(path, old)
    assert at == 6
    assert path.read_bytes() == new


@pytest.mark.parametrize("stays", [False, True])
def test_a_folder_is_committed_whole_or_not_at_all(tmp_path, disk, code, stays):
    for at in range(1, 20):
        temporary = temporary_beside(tmp_path / "final")
        temporary.mkdir()
        (temporary / "a").write_bytes(b"x")
        disk.arm(at, code, stays)
        try:
            commit_folder(temporary, tmp_path / "final")
        except OntogenyError:
            assert os.listdir(tmp_path) == []
        else:
            break
    assert at == 4
    assert (tmp_path / "final" / "a").read_bytes() == b"x"


def test_a_committed_folder_is_never_replaced(tmp_path):
    (tmp_path / "final").mkdir()
    temporary = temporary_beside(tmp_path / "final")
    temporary.mkdir()
    with pytest.raises(RunExists, match="already exists"):
        commit_folder(temporary, tmp_path / "final")
    assert os.listdir(tmp_path) == ["final"]


def test_a_writer_that_raises_leaves_nothing(tmp_path):
    def write(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a", write)
    assert os.listdir(tmp_path) == []


def test_space_errors_name_quota_or_disk_and_the_bytes(tmp_path, disk):
    disk.arm(1, errno.EDQUOT)
    with pytest.raises(DiskFull, match=r"(?s)quota.*a \(EDQUOT\).*at least 5,000 bytes"):
        write_file(tmp_path / "a", b"x" * 5000)
    disk.arm(1, errno.ENOSPC)
    with pytest.raises(DiskFull, match="no space is left"):
        write_file(tmp_path / "a", b"x" * 5000)


def test_unwritable_folders_are_named_at_once(tmp_path, disk):
    began = time.monotonic()
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path / "missing", tmp_path / "file", Path("/proc/self")):
        with pytest.raises(NotWritable, match=str(folder)):
            check_writable(folder)
        with pytest.raises(NotWritable):
            write_file(folder / "a", b"")
    for refusal in (errno.EROFS, errno.EACCES):
        disk.arm(1, refusal)
        with pytest.raises(NotWritable, match=errno.errorcode[refusal]):
            check_writable(tmp_path)
    disk.disarm()
    check_writable(tmp_path)
    assert os.listdir(tmp_path) == ["file"]
    assert time.monotonic() - began < 1


def test_free_bytes_of_a_path_that_will_be(tmp_path):
    free = os.statvfs(tmp_path)
    assert free_bytes(tmp_path / "not" / "yet") == pytest.approx(free.f_bavail * free.f_frsize, rel=0.2)


def test_leftovers_are_cleared_and_nothing_else(tmp_path):
    temporary_beside(tmp_path / "a").write_bytes(b"half")
    temporary_beside(tmp_path / "b").mkdir()
    for kept in ("a", ".hidden", "x.temporary"):
        (tmp_path / kept).write_bytes(b"")
    clear_temporaries(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".hidden", "a", "x.temporary"]


def test_a_writer_finalised_late_reaches_no_other_file(tmp_path):
    """After a failure the descriptor's number is soon another file's; what flushes late must not hit that."""
    late = []

    def fail(file):
        late.append(file)
        file.write(b"half")
        raise OSError(errno.EIO, "gone")

    with pytest.raises(OntogenyError):
        write_file(tmp_path / "a", fail)
    with (tmp_path / "b").open("wb", buffering=0) as other:
        other.write(b"whole")
        with pytest.raises(ValueError, match="let go"):
            late[0].write(b"footer")
    assert (tmp_path / "b").read_bytes() == b"whole"
