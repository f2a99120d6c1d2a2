from .translating import (
    LANGUAGES as LANGUAGES,
    current_language as current_language,
    preferred_language as preferred_language,
    set_language as set_language,
    translate as translate,
    use_language as use_language,
)
