from .assessment import RiskAssessment as RiskAssessment
from .bands import record_bands as record_bands, size_bands as size_bands, stair as stair
from .keys import Keys as Keys, minimal_keys as minimal_keys
from .mpuccs import Mpuccs as Mpuccs, encoded as encoded
from .petsard import PETSARD_UNITS as PETSARD_UNITS, PetsardMpuccs as PetsardMpuccs, petsard_mpuccs as petsard_mpuccs
from .uniques import MinimalUniques as MinimalUniques, minimal_uniques as minimal_uniques
