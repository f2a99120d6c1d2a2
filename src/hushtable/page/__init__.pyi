from .column_settings import (
    can_be_judged as can_be_judged,
    replace_hierarchy as replace_hierarchy,
    replace_role as replace_role,
)
from .desk import Desk as Desk, with_open_question as with_open_question
from .jobs import StoppedError as StoppedError
from .outcome import column_entries as column_entries, largest_k as largest_k
from .server import PageServer as PageServer
from .suggestions import Suggestion as Suggestion
