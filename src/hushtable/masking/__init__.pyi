from .independence import mask_dependence as mask_dependence, masking_tradeoff as masking_tradeoff
from .release import MaskedRelease as MaskedRelease, MaskingTradeoff as MaskingTradeoff
