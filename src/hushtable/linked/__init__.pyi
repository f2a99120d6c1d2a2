from .policy import LinkedPolicy as LinkedPolicy
from .protecting import anonymize_tables as anonymize_tables
from .release import LinkedRelease as LinkedRelease
from .tables import list_inputs as list_inputs, open_tables as open_tables
from .verifying import verify_by_policy as verify_by_policy, verify_tables as verify_tables
from .writing import check_target as check_target
