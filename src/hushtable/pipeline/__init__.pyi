from . import store as store
from .pipeline import Pipeline as Pipeline, PipelineRun as PipelineRun
