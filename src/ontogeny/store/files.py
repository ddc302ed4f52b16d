"""The one way bytes reach the disk: a temporary file, fsync, rename, fsync of the folder.

Everything the run folder holds beside the live journal goes through `write_file`, so that a reader sees an
old file or a new one and never a part of one. `raw_write`, `raw_fsync` and `raw_rename` are the seam: every
call that can fail for want of space or a dying disk is one of them, and tests make the k-th of them fail.
"""

import contextlib
import errno
import io
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import xxhash

from ontogeny.errors import DiskFull, NotWritable, OntogenyError, RunExists

#: Bytes that are handed to the system at once, so that a writer who is told to give up soon does.
_PORTION = 64 << 20
#: How the names of unfinished files and folders end; nothing that carries it was ever committed.
TEMPORARY = ".temporary"

_FULL = {errno.ENOSPC: "no space is left on the disk", errno.EDQUOT: "the disk quota is used up"}
_SHUT = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR}


@dataclass(frozen=True)
class Damage:
    """Stored bytes that cannot be trusted: in which file, where, how many, and what was lost with them."""

    file: str
    offset: int
    length: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset}, {self.length} bytes: {self.what}"


@dataclass(frozen=True)
class Written:
    """What `write_file` put on the disk: its length, and the xxh3-128 of it."""

    bytes: int
    hash: str


def raw_write(descriptor: int, data: bytes | memoryview) -> int:
    return os.write(descriptor, data)


def raw_fsync(descriptor: int) -> None:
    os.fsync(descriptor)


def raw_rename(source: Path, target: Path) -> None:
    os.replace(source, target)


class Sink(io.RawIOBase):
    """A binary file open for writing that writes all of what it is given, counts it and hashes it."""

    def __init__(self, descriptor: int, proceed: Callable[[], None]) -> None:
        self._descriptor, self._proceed = descriptor, proceed
        self._hash = xxhash.xxh3_128()
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data, /) -> int:
        if self._descriptor < 0:
            raise ValueError("this file has been let go of")
        view = memoryview(data).cast("B")
        self._hash.update(view)
        done = 0
        while done < len(view):
            self._proceed()
            done += raw_write(self._descriptor, view[done : done + _PORTION])
        self.count += done
        return done

    def let_go(self) -> None:
        """Close the descriptor. A writer that failed, and is finalised much later, may still flush what it
        holds (pyarrow's does): the number of the descriptor may be another file's by then."""
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)

    def tell(self) -> int:
        return self.count

    def written(self) -> Written:
        return Written(self.count, self._hash.hexdigest())


def write_file(
    path: Path | str,
    data: bytes | memoryview | Callable[[BinaryIO], None],
    proceed: Callable[[], None] = lambda: None,
) -> Written:
    """Replace `path` by `data` as a whole: after a crash it holds the old bytes or the new ones.

    A callable receives a file to write to (it can write and tell, not seek). `proceed` is called before every
    write; what it raises ends the writing. On any failure the temporary file is removed. When only the last
    step fails, the fsync of the folder, the new file is whole and in place but may not survive a power cut,
    and the error is raised.

    Raises DiskFull for want of space or quota, NotWritable for a missing or read-only folder, OntogenyError
    with the errno's name for anything else the system refuses.
    """
    path = Path(path)
    temporary = temporary_beside(path)
    least = 0 if callable(data) else memoryview(data).nbytes
    sink = None
    with named_errors(path, lambda: max(least, sink.count if sink else 0)):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            sink = Sink(descriptor, proceed)
            try:
                _fill(sink, data)
                raw_fsync(descriptor)
            finally:
                sink.let_go()
            raw_rename(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        if not path.parent.name.endswith(TEMPORARY):  # its names become durable when it is committed
            fsync_folder(path.parent)
    return sink.written()


def _fill(sink: Sink, data: bytes | memoryview | Callable[[BinaryIO], None]) -> None:
    if callable(data):
        data(cast(BinaryIO, sink))
    else:
        sink.write(data)


def temporary_beside(path: Path) -> Path:
    """A name in the same folder that no other writer has and that readers ignore."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}{TEMPORARY}")


def clear_temporaries(folder: Path | str) -> None:
    """Remove what writers killed half-way left in `folder`. Only for whoever holds the run: a live writer's
    temporary file would go too."""
    for left in Path(folder).glob(f".*{TEMPORARY}"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def commit_folder(temporary: Path, final: Path) -> None:
    """Put a finished temporary folder in its place; whoever lists the parent sees all of it or nothing.

    On failure `final` does not exist and the temporary folder is gone, so the same commit may be tried
    again. Raises RunExists if `final` exists, and the errors of `write_file`.
    """
    with named_errors(final):
        try:
            if os.path.lexists(final):
                raise RunExists(f"{final} already exists", remedy="choose another name or remove it yourself")
            fsync_folder(temporary)
            raw_rename(temporary, final)
            try:
                fsync_folder(final.parent)
            except BaseException:
                os.replace(final, temporary)
                raise
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def fsync_folder(folder: Path) -> None:
    """Make the names in `folder` durable. Windows has no such call and does without."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        raw_fsync(descriptor)
    finally:
        os.close(descriptor)


def free_bytes(path: Path | str) -> int:
    """How many bytes this user may still write where `path` is or will be; quotas are not seen."""
    path = Path(path).absolute()
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def check_writable(folder: Path | str) -> None:
    """Write, fsync and remove one byte in `folder`, so that a hopeless run stops before step 0.

    Raises NotWritable or DiskFull.
    """
    probe = temporary_beside(Path(folder) / "probe")
    with named_errors(Path(folder), lambda: 1):
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            raw_write(descriptor, b"\0")
            raw_fsync(descriptor)
        finally:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                probe.unlink()


@contextlib.contextmanager
def named_errors(path: Path, needed: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Turn what the system refuses into an error that says what to do about it.

    `needed` is asked, when there is no space, how many bytes had been written by then.
    """
    try:
        yield
    except OSError as error:
        raise _named(error, path, needed()) from error


def _named(error: OSError, path: Path, needed: int) -> OntogenyError:
    code = errno.errorcode.get(error.errno or 0, "OSError")
    if error.errno in _FULL:
        return DiskFull(
            f"{_FULL[error.errno]}: {path} ({code})",
            received=f"at least {needed:,} bytes to write, {_free_or_unknown(path)} bytes free on the disk",
            remedy="free space or raise the quota, then resume; what was committed before is untouched",
        )
    if error.errno in _SHUT:
        return NotWritable(
            f"cannot write {path} ({code})",
            received=str(error),
            allowed="an existing folder this user may write to",
            remedy="create the folder, mount it writable, or name another",
        )
    return OntogenyError(
        f"the system failed to write {path} ({code})",
        received=str(error),
        remedy="look at the disk's health; what was committed before is untouched",
    )


def _free_or_unknown(path: Path) -> str:
    try:
        return f"{free_bytes(path):,}"
    except OSError:
        return "an unknown number of"
