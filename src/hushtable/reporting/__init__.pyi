from .document import (
    Answers as Answers,
    Block as Block,
    Chart as Chart,
    Code as Code,
    KeyFigures as KeyFigures,
    Paragraph as Paragraph,
    Points as Points,
    Quantity as Quantity,
    Report as Report,
    Section as Section,
    Table as Table,
    report_paths as report_paths,
    shown as shown,
)
from .papers import references as references
from .reports import report as report
