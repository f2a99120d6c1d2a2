from . import manifest as manifest, notes as notes
from .archives import ARCHIVES as ARCHIVES, archive_path as archive_path, convert_codebook as convert_codebook
from .batch import Batch as Batch
from .batches import Batches as Batches, decode_dictionaries as decode_dictionaries
from .bounds import refuse_central as refuse_central
from .codebook import Codebook as Codebook, codebook_paths as codebook_paths, render_copy as render_copy
from .direct_identifiers import check_accepted as check_accepted, refuse_identifiers as refuse_identifiers
from .edition import Edition as Edition, Rewritten as Rewritten
from .exposing import KeptColumns as KeptColumns, find_undoing_columns as find_undoing_columns
from .exposure import Exposure as Exposure, ExposureLimit as ExposureLimit
from .facts import describe_release as describe_release
from .manifest import (
    external_facts as external_facts,
    manifest_path as manifest_path,
    sha256 as sha256,
    sign_off_path as sign_off_path,
)
from .mapping import AppliedMapping as AppliedMapping
from .notes import FarOut as FarOut
from .origin import (
    Origin as Origin,
    PublishedCells as PublishedCells,
    declare_odd_cells_missing as declare_odd_cells_missing,
)
from .pseudonyms import Pseudonyms as Pseudonyms, derive_key as derive_key, pseudonymize as pseudonymize
from .release import (
    MOST_ATTACKED as MOST_ATTACKED,
    Release as Release,
    RemoteRelease as RemoteRelease,
)
from .sign_off import (
    AUDIENCES as AUDIENCES,
    NO_SIGNATURE as NO_SIGNATURE,
    SignOff as SignOff,
    hash_claim as hash_claim,
    read_sign_off as read_sign_off,
    write_sign_off as write_sign_off,
)
from .timelines.curves import measure_curve as measure_curve
from .timelines.facts import Timelines as Timelines
from .timelines.intervals import KnownIntervals as KnownIntervals, measure_intervals as measure_intervals
from .timelines.shifting import (
    DateShift as DateShift,
    SinceFirst as SinceFirst,
    days_since_first as days_since_first,
    find_first_dates as find_first_dates,
    shift_dates as shift_dates,
)
from .writing import (
    Destination as Destination,
    TableContent as TableContent,
    check_order as check_order,
    check_output as check_output,
    check_writing as check_writing,
    is_folder as is_folder,
    raise_if_dates_are_ordered as raise_if_dates_are_ordered,
    write as write,
)
