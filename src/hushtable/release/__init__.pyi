from . import manifest as manifest, notes as notes
from .archives import ARCHIVES as ARCHIVES, archived as archived, archived_path as archived_path
from .batch import Batch as Batch
from .codebook import Codebook as Codebook, codebook_paths as codebook_paths, renamed as renamed
from .direct_identifiers import ShownIdentifier as ShownIdentifier, find_shown_identifiers as find_shown_identifiers
from .edition import (
    Destination as Destination,
    Edition as Edition,
    Rewritten as Rewritten,
    check_by as check_by,
    check_order as check_order,
    check_writing as check_writing,
)
from .exposure import (
    Exposure as Exposure,
    ExposureLimit as ExposureLimit,
    KeptColumns as KeptColumns,
    Uniques as Uniques,
    measure_exposure as measure_exposure,
    most_told as most_told,
    pairs_to as pairs_to,
    undoing as undoing,
)
from .manifest import external_facts as external_facts, manifest_path as manifest_path, sha256 as sha256
from .mapping import AppliedMapping as AppliedMapping
from .notes import FarOut as FarOut
from .pseudonyms import Pseudonyms as Pseudonyms, pseudonymize as pseudonymize
from .release import (
    OfClaim as OfClaim,
    Release as Release,
    check_before_writing as check_before_writing,
    kept_columns_facts as kept_columns_facts,
)
