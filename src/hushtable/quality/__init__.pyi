from .bound import release_bound as release_bound
from .distances import Distances as Distances
from .loss import (
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
    measure as measure,
    weighted_mean as weighted_mean,
)
from .measures import MEASURES as MEASURES, Measure as Measure, of as of
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
from .similarity import describe as describe, diagnosis as diagnosis
from .utility import (
    SampledRows as SampledRows,
    Utility as Utility,
    among as among,
    measure_utility as measure_utility,
)
