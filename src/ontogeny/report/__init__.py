"""Reports: figures drawn from their descriptions, and pages that need nothing but themselves."""

from ontogeny.report.draw import draw
from ontogeny.report.page import report, write_report
from ontogeny.report.tables import PartNote, RunTables, part_notes

__all__ = ["PartNote", "RunTables", "draw", "part_notes", "report", "write_report"]
