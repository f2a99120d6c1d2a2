from .facts import (
    CAREFUL as CAREFUL,
    StatesFacts as StatesFacts,
    careful as careful,
    count_of as count_of,
    join_names as join_names,
    table_html as table_html,
)
from .translating import (
    LANGUAGES as LANGUAGES,
    choose_language as choose_language,
    current_language as current_language,
    set_language as set_language,
    translate as translate,
    use_language as use_language,
)
