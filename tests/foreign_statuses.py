"""What came of measuring somebody else's model, one line a part, component and stimulus.

Run as a script it prints the table's lines for folders of rows that were measured, to be read and kept:

    python tests/foreign_statuses.py stories260k=FOLDER babyllama-tok105=FOLDER smollm2=FOLDER
"""

import csv
import re
import sys
from pathlib import Path

from ontogeny.store.rows import read_rows

Key = tuple[str, str, str]
KEYS = ("part", "component", "stimulus")


def seen(home: Path) -> dict[Key, tuple[str, str]]:
    """Statuses (several joined by +) and the first reason of one that is not ok, by the line's key."""
    frame = read_rows(home).fillna({"reason": "", "component": "", "stimulus_name": ""})
    found = {}
    for key, rows in frame.groupby(["part", "component", "stimulus_name"]):
        other = rows[rows["status"] != "ok"]["reason"]
        statuses = "+".join(sorted(set(rows["status"]), key=lambda one: (one != "ok", one)))
        found[key] = statuses, "" if other.empty else other.iloc[0]
    return found


def expected(table: Path, model: str) -> dict[Key, tuple[str, str]]:
    """The status and a piece of the reason that the table has for a model, where it has one."""
    with table.open(newline="", encoding="utf-8") as file:
        return {
            (line["part"], line["component"], line["stimulus"]): (line[model], line["because"])
            for line in csv.DictReader(file)
            if line[model]
        }


def differences(home: Path, table: Path, model: str) -> list[str]:
    """What was not expected, what is missing, and reasons that do not say why."""
    found, wanted = seen(home), expected(table, model)
    told = []
    for key in sorted({*found, *wanted}):
        status, reason = found.get(key, ("not there", ""))
        want, because = wanted.get(key, ("not listed", ""))
        if status != want or (status != "ok" and because not in reason):
            told.append(f"{','.join(key)}: {status} ({reason}), expected {want} ({because})")
    return told


def _print_table(homes: dict[str, Path]) -> None:
    found = {model: seen(home) for model, home in homes.items()}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*KEYS, *found, "because"])
    for key in sorted({key for one in found.values() for key in one}):
        told = [one.get(key, ("", "")) for one in found.values()]
        because = next((reason for status, reason in told if status not in ("", "ok")), "")
        writer.writerow([*key, *(status for status, _ in told), _without_numbers(because)])


def _without_numbers(reason: str) -> str:
    """Its longest piece that has no number in it: what the models' reasons have in common."""
    return max(re.split(r"\d+", reason), key=len).strip()


if __name__ == "__main__":
    _print_table({model: Path(home) for model, _, home in (one.partition("=") for one in sys.argv[1:])})
