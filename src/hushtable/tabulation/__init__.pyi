from .cells import ReaderKnowledge as ReaderKnowledge
from .checking import TableAudit as TableAudit, check_tables as check_tables
from .joining import attack_with_tables as attack_with_tables
from .publishing import Tabulation as Tabulation, tabulate as tabulate
from .rounding import RoundedTables as RoundedTables, round_tables as round_tables
from .tabulating import CellRules as CellRules
from .tau_argus import read_argus_table as read_argus_table
