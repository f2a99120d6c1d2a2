from . import store as store
from .pipeline import Pipeline as Pipeline
from .run import PipelineRun as PipelineRun
