from .document import Report as Report, report_paths as report_paths
from .reports import report as report
from .sections import (
    Answers as Answers,
    Block as Block,
    Chart as Chart,
    Code as Code,
    KeyFigures as KeyFigures,
    Paragraph as Paragraph,
    Points as Points,
    Quantity as Quantity,
    Section as Section,
    Table as Table,
    shown as shown,
)
