from .document import (
    Block as Block,
    Chart as Chart,
    Code as Code,
    Paragraph as Paragraph,
    Points as Points,
    Quantity as Quantity,
    Report as Report,
    Section as Section,
    Table as Table,
    page_style as page_style,
    report_paths as report_paths,
    say as say,
    say_cell as say_cell,
    section_html as section_html,
)
from .papers import references as references
from .reports import report as report
from .shared import SharedText as SharedText, persons_of_rows as persons_of_rows, shared_texts as shared_texts
