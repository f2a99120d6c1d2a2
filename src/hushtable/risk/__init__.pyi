from .assessment import RiskAssessment as RiskAssessment
from .attacks.attack import (
    Attack as Attack,
    Attacks as Attacks,
    PrivacyFigure as PrivacyFigure,
    Tries as Tries,
    excess_over_control as excess_over_control,
)
from .attacks.copies import Copies as Copies, count_copies as count_copies
from .attacks.distances import dcr as dcr, nndr as nndr
from .attacks.few_records import Unicity as Unicity, unicity as unicity
from .attacks.guesses import inference as inference, rapid as rapid, tcap as tcap
from .attacks.linked_persons import LinkedPersons as LinkedPersons
from .attacks.linking import (
    JoinRisk as JoinRisk,
    Linked as Linked,
    Linking as Linking,
    join_risk as join_risk,
    link as link,
)
from .attacks.links import linkability as linkability
from .attacks.own_release import (
    OwnAttack as OwnAttack,
    OwnAttacks as OwnAttacks,
    attack_release as attack_release,
    attack_written as attack_written,
)
from .attacks.queries import singling_out as singling_out
from .attacks.untried import CELLS_OF_EARLIER as CELLS_OF_EARLIER, UNKNOWN_PEOPLE as UNKNOWN_PEOPLE
from .bands import cumulative_shares as cumulative_shares, record_bands as record_bands, size_bands as size_bands
from .keys import Keys as Keys, minimal_keys as minimal_keys
from .members.findings import Membership as Membership, MembershipAttack as MembershipAttack
from .members.membership import membership as membership
from .mpuccs import Mpuccs as Mpuccs, encode_same_columns as encode_same_columns
from .petsard import PETSARD_UNITS as PETSARD_UNITS, PetsardMpuccs as PetsardMpuccs, petsard_mpuccs as petsard_mpuccs
from .uniques import MinimalUniques as MinimalUniques, minimal_uniques as minimal_uniques
