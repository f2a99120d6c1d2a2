from .document import (
    Report as Report,
    page_style as page_style,
    report_paths as report_paths,
    section_html as section_html,
)
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
from .shared import SharedText as SharedText, persons_of_rows as persons_of_rows, shared_texts as shared_texts
