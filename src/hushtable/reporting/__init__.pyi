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
    render_section as render_section,
    report_paths as report_paths,
    say as say,
    say_cell as say_cell,
)
from .papers import references as references
from .reports import report as report
from .shared import (
    PeopleCounter as PeopleCounter,
    SharedText as SharedText,
    find_shared_texts as find_shared_texts,
    persons_of_rows as persons_of_rows,
)
from .sign_off import section_on_sign_off as section_on_sign_off
