"""Checkpoints written while training goes on: a copy is taken at once, one writer works in the background."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontogeny.record.saving import Documents, Tensors
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.store.files import named_errors


class BackgroundWriter:
    """One checkpoint in flight at a time; the next waits for it. Its error is raised by the next call."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

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
                write_checkpoint(folder, tensors=tensors, documents=documents, step=step, metadata=metadata)
                with named_errors(folder):
                    for name, target in links.items():
                        (folder / name).symlink_to(target)
            except BaseException as error:
                self._failure = error

        self._thread = threading.Thread(target=work, name=f"ontogeny checkpoint {step}")
        self._thread.start()

    def wait(self) -> None:
        """Until nothing is in flight; raises what went wrong."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
