from . import store as store
from .pipeline import Pipeline as Pipeline, PipelineRun as PipelineRun
from .results import Evaluation as Evaluation, Evaluator as Evaluator, Tables as Tables
from .schema import pipeline_schema as pipeline_schema
