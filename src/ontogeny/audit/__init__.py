"""Audit: whether checkpoints and results are what their names say, before a curve is drawn from them.

from ontogeny.audit import audit
print(audit("checkpoints/").text())
audit("results/").findings          # a table
print(audit_items("samples/before/", "samples/after/").text())
"""

from ontogeny.audit.audit import Audit, audit, quick
from ontogeny.audit.finding import KINDS, Finding, Severity
from ontogeny.audit.items import ItemAudit, audit_items
from ontogeny.audit.kept import kept, look_over, warn_of_errors

__all__ = [
    "KINDS",
    "Audit",
    "Finding",
    "ItemAudit",
    "Severity",
    "audit",
    "audit_items",
    "kept",
    "look_over",
    "quick",
    "warn_of_errors",
]
