from .independence import mask_dependence as mask_dependence
from .release import MaskedRelease as MaskedRelease
from .tradeoff import MaskingTradeoff as MaskingTradeoff, masking_tradeoff as masking_tradeoff
