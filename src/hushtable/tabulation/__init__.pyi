from .auditing import CellAudit as CellAudit, JudgedCell as JudgedCell, audit as audit
from .cells import (
    CellSystem as CellSystem,
    CellTable as CellTable,
    ReaderKnowledge as ReaderKnowledge,
    build_system as build_system,
)
from .checking import TableAudit as TableAudit, check_tables as check_tables
from .publishing import Tabulation as Tabulation, tabulate as tabulate
from .tabulating import CellRules as CellRules
