from .bound import release_bound as release_bound
from .cell_kinds import CellKinds as CellKinds
from .distances import Distances as Distances
from .loss import (
    HIGHEST_IMPORTANCE as HIGHEST_IMPORTANCE,
    CellLoss as CellLoss,
    Certainty as Certainty,
    Loss as Loss,
    MinimalDistortion as MinimalDistortion,
    Quality as Quality,
    RowLoss as RowLoss,
    SetNCP as SetNCP,
    average_class_size as average_class_size,
    check_weights as check_weights,
    discernibility as discernibility,
    mean_loss as mean_loss,
    measure_quality as measure_quality,
    weighs_columns as weighs_columns,
    with_importance as with_importance,
)
from .measures import MEASURES as MEASURES, Measure as Measure, measure_release as measure_release
from .objectives import (
    LOSSES as LOSSES,
    ArxLoss as ArxLoss,
    AverageClassSize as AverageClassSize,
    Discernibility as Discernibility,
    NonUniformEntropy as NonUniformEntropy,
    Precision as Precision,
    register as register,
)
from .regression import (
    Coefficient as Coefficient,
    Regression as Regression,
    RegressionModel as RegressionModel,
    regress as regress,
)
from .similarity import describe_table as describe_table, diagnosis as diagnosis
from .utility import (
    SampledRows as SampledRows,
    Utility as Utility,
    measure_utility as measure_utility,
    with_all_columns as with_all_columns,
)
