"""Checkpoints written while training goes on: a copy is taken at once, one writer works in the background."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontogeny.record.saving import Documents, Tensors
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.store.files import named_errors

#: How often it is asked whether a writer that is waited for was ever started.
PATIENCE_SECONDS = 1.0


class _Abandoned(BaseException):
    """Ends a write that nobody wants any more."""


class BackgroundWriter:
    """One checkpoint in flight at a time; the next waits for it. Its error is raised by the next call."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        # An event, since a join that a signal interrupts takes a living thread for a dead one (Python 3.11).
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._abandoned = False

    def write(
        self,
        folder: Path,
        step: int,
        tensors: dict[str, Tensors],
        documents: Documents,
        links: Mapping[str, str],
        **metadata: Any,
    ) -> None:
        """Start writing a checkpoint whose tensors nobody changes any more.

        `links` are files it shares with others of its run, such as the tokenizer's: name -> relative target.
        """
        self.wait()

        def work() -> None:
            try:
                write_checkpoint(
                    folder,
                    tensors=tensors,
                    documents=documents,
                    step=step,
                    metadata=metadata,
                    proceed=self._proceed,
                )
                with named_errors(folder):
                    for name, target in links.items():
                        (folder / name).symlink_to(target)
            except _Abandoned:
                pass
            except BaseException as error:
                self._failure = error
            finally:
                self._over.set()

        self._abandoned = False
        self._over.clear()
        self._thread = threading.Thread(target=work, name=f"ontogeny checkpoint {step}")
        self._thread.start()

    def wait(self) -> None:
        """Until nothing is in flight; raises what went wrong."""
        if self._thread is not None:
            while not self._over.wait(PATIENCE_SECONDS):
                if self._thread.ident is None:  # a signal came between its making and its start
                    break
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def finish(self) -> None:
        """Wait; an interrupt meanwhile abandons what is in flight."""
        try:
            self.wait()
        except KeyboardInterrupt:
            self.abandon()
            self.wait()
            raise

    def abandon(self) -> None:
        """Let what is in flight leave nothing behind, as soon as the system lets go of the present write."""
        self._abandoned = True

    def _proceed(self) -> None:
        if self._abandoned:
            raise _Abandoned
