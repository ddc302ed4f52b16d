"""Tasks through a crew: every task done once, the dead retried, the failed told, the rest gone on with."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ontogeny.errors import UnknownName
from ontogeny.sweep.crew import LocalCrew
from ontogeny.sweep.ledger import Ledger, State
from ontogeny.sweep.task import Crew, End, Ended, Task

#: Further attempts at a task whose worker died.
RETRIES = 2
ENGINES = ("local", "ray")
#: Hears every change: the task's name, its state, and what its worker told (step, loss).
Hear = Callable[[str, State, dict[str, Any]], None]


def crew_of(engine: str, workers: int) -> Crew:
    """Workers on this machine, or on Ray. UnknownName for another engine, MissingExtra without Ray."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if engine == "ray":
        from ontogeny.sweep.ray_crew import RayCrew  # an optional extra, slow to import

        return RayCrew(max(1, workers))
    return LocalCrew(max(1, workers))


def work_through(
    tasks: Iterable[Task],
    crew: Crew,
    ledger: Ledger,
    hear: Hear = lambda name, state, facts: None,
    starting: Callable[[Task], None] = lambda task: None,
    over: Callable[[Task], None] = lambda task: None,
) -> None:
    """Do all tasks; each ends finished or failed in the ledger.

    A task whose worker died is tried again at most RETRIES times. `starting` and `over` are called in this
    process, before a task's first attempt and after its last. KeyboardInterrupt stops the workers at their
    next step boundary, marks what is not over as stopped, and is raised again.
    """
    waiting, tries = deque(tasks), dict[str, int]()

    def say(task: Task, state: State, **facts: Any) -> None:
        ledger[task.name].state = state
        ledger.write()
        hear(task.name, state, facts)

    def close(ended: Ended) -> None:
        task, entry = ended.task, ledger[ended.task.name]
        if ended.end is not End.DONE:
            entry.reasons.append(ended.reason)
        if ended.end in (End.DIED, End.STOPPED) and tries[task.name] <= RETRIES:
            waiting.append(task)
            say(task, State.WAITING, reason=ended.reason)
            return
        over(task)
        say(task, State.FINISHED if ended.end is End.DONE else State.FAILED, reason=ended.reason)

    try:
        while waiting or crew.busy:
            while waiting and crew.busy < crew.size:
                task = waiting.popleft()
                if task.name not in tries:
                    starting(task)
                tries[task.name] = tries.get(task.name, 0) + 1
                ledger[task.name].attempts += 1
                crew.give(task)
                say(task, State.RUNNING)
            for happened in crew.wait(1.0):
                if isinstance(happened, Ended):
                    close(happened)
                else:
                    hear(happened.task.name, State.RUNNING, dict(happened.facts))
    finally:
        try:
            for ended in crew.stop():
                if ended.end is End.DONE:
                    close(ended)
        finally:
            for name in (*ledger.names(State.RUNNING), *ledger.names(State.WAITING)):
                ledger[name].state = State.STOPPED
            ledger.write(now=True)
