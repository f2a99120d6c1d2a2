from .policy import LinkedPolicy as LinkedPolicy, names_tables as names_tables
from .protecting import anonymize_tables as anonymize_tables
from .release import LinkedRelease as LinkedRelease
from .tables import open_tables as open_tables
from .verifying import is_of_linked_tables as is_of_linked_tables, verify_tables as verify_tables
