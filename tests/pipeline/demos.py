"""Pipelines of the shapes that PETsARD 1.6.0 ships as demos, by their names there."""

_ADULT = """
Loader:
  data:
    filepath: 'benchmark/adult-income.csv'
"""
_MADE = """
Preprocessor:
  demo:
    method: 'default'
Synthesizer:
  demo:
    method: 'default'
Postprocessor:
  demo:
    method: 'default'
"""
_GLOBAL = """
Reporter:
  save_report_global:
    method: 'save_report'
    granularity: 'global'
"""
_QUALITY = """
Evaluator:
  demo-quality:
    method: 'sdmetrics-qualityreport'
Reporter:
  output:
    method: 'save_data'
    source: 'Synthesizer'
  save_report_global:
    method: 'save_report'
    granularity: 'global'
"""
_ALL = """
Evaluator:
  demo-diagnostic:
    method: 'sdmetrics-diagnosticreport'
  demo-quality:
    method: 'sdmetrics-qualityreport'
  demo-singlingout:
    method: 'anonymeter-singlingout'
    n_attacks: 100
    n_cols: 3
    max_attempts: 1000
  demo-linkability:
    method: 'anonymeter-linkability'
    aux_cols:
      -
        - 'age'
        - 'gender'
      -
        - 'occupation'
        - 'income'
  demo-inference:
    method: 'anonymeter-inference'
    secret: 'income'
  demo-classification:
    method: 'mlutility-classification'
    target: 'income'
"""

WITHOUT_SYNTHESIS = {
    "external-synthesis-default-evaluation": f"""---
Splitter:
  custom:
    method: 'custom_data'
    filepath:
      ori: 'benchmark/adult-income_ori.csv'
      control: 'benchmark/adult-income_control.csv'
Synthesizer:
  custom:
    method: 'custom_data'
    filepath: 'benchmark/adult-income_syn.csv'
{_ALL}{_GLOBAL}...
""",
    "specify-schema-comprehensive": """---
Loader:
  data:
    filepath: 'benchmark/adult-income.csv'
    schema:
      schema_id: adult
      optimize_dtypes: true
      nullable_int: 'force'
      fields:
        age: {type: 'int', na_values: [-1, 'unknown']}
        fnlwgt: {type: 'float', precision: 2}
        workclass: {type: 'str', na_values: '?', category_method: 'auto', logical_type: 'infer'}
        income: {type: 'str', leading_zeros: 'never'}
Describer:
  summary: {method: 'default'}
Reporter:
  save: {method: 'save_report', granularity: ['global', 'columnwise', 'pairwise']}
...
""",
    "experiment-name-in-reporter": """---
Splitter:
  custom:
    method: 'custom_data'
    filepath:
      ori: 'benchmark/adult-income_ori.csv'
      control: 'benchmark/adult-income_control.csv'
Synthesizer:
  exp1_epsilon0.1:
    method: 'custom_data'
    filepath: 'benchmark/adult-income_syn.csv'
  exp2_epsilon1.0:
    method: 'custom_data'
    filepath: 'benchmark/adult-income_syn.csv'
Evaluator:
  eval1:
    method: 'mpuccs'
    n_cols: 1
  eval2:
    method: 'sdmetrics-qualityreport'
Reporter:
  data:
    method: 'save_data'
    source: ['exp1_epsilon0.1', 'exp2_epsilon1.0']
  one:
    method: 'save_report'
    granularity: 'global'
    eval: 'eval1'
  all:
    method: 'save_report'
    granularity: ['global', 'columnwise']
    naming_strategy: 'compact'
...
""",
    "specify-schema": """---
Loader:
  data:
    filepath: 'benchmark/adult-income.csv'
  data-w-schema:
    filepath: 'benchmark/adult-income.csv'
    schema:
      compute_stats: true
      optimize_dtypes: true
      nullable_int: 'force'
      fields:
        age:
          type: 'int'
        gender:
          type: 'str'
          category_method: 'force'
        workclass:
          type: 'str'
          na_values: '?'
Describer:
  summary:
    method: 'default'
Reporter:
  save_report_columnwise:
    method: 'save_report'
    granularity: 'columnwise'
...
""",
    "specify-schema-external": """---
Loader:
  data:
    filepath: 'benchmark/adult-income.csv'
    schema: 'benchmark/adult-income_schema.yaml'
Describer:
  summary:
    method: 'default'
Reporter:
  save_report_columnwise:
    method: 'save_report'
    granularity: 'columnwise'
...
""",
    "data-description": f"""---{_ADULT}
Describer:
  summary:
    method: 'default'
Reporter:
  save_report_global:
    method: 'save_report'
    granularity: 'global'
  save_report_columnwise:
    method: 'save_report'
    granularity: 'columnwise'
  save_report_pairwise:
    method: 'save_report'
    granularity: 'pairwise'
...
""",
}
"""Need no synthesizer."""

WITH_A_COPULA = {
    "mpuccs": f"""---{_ADULT}
Splitter:
  demo:
    num_samples: 1
    train_split_ratio: 0.8
{_MADE}
Evaluator:
  demo-mpuccs:
    method: 'mpuccs'
    n_cols:
      - 1
      - 2
      - 3
      - 4
      - 5
Reporter:
  output:
    method: 'save_data'
    source: 'Synthesizer'
  save_report_global:
    method: 'save_report'
    granularity: 'global'
...
""",
    "default-synthesis": f"""---{_ADULT}{_MADE}
Reporter:
  output:
    method: 'save_data'
    source: 'Synthesizer'
...
""",
    "default-synthesis-default-evaluation": f"""---{_ADULT}
Splitter:
  demo:
    num_samples: 1
    train_split_ratio: 0.8
{_MADE}{_ALL}{_GLOBAL}...
""",
    "timing": f"""---{_ADULT}
Synthesizer:
  default:
    method: 'default'
Evaluator:
  default:
    method: 'default'
Reporter:
  save_timing:
    method: 'save_timing'
    time_unit: 'minutes'
    module: ['Loader', 'Synthesizer']
...
""",
    "logging-configuration": f"""---
Executor:
  log_output_type: both
  log_level: DEBUG
  log_dir: demo_logs
  log_filename: demo_{{timestamp}}.log
{_ADULT}{_MADE}{_QUALITY}...
""",
    "encoding-category": f"""---{_ADULT}
Preprocessor:
  encoding-only:
    sequence:
      - 'encoder'
Synthesizer:
  demo:
    method: 'default'
Postprocessor:
  demo:
    method: 'default'
{_QUALITY}...
""",
    "handling-missing-values": f"""---
Loader:
  data:
    filepath: 'benchmark/adult-income.csv'
    na_values: '?'
Preprocessor:
  missing-only:
    sequence:
      - 'missing'
      - 'encoder'
Synthesizer:
  demo:
    method: 'default'
Postprocessor:
  demo:
    method: 'default'
{_QUALITY}...
""",
    "custom-evaluation": f"""---{_ADULT}{_MADE}
Evaluator:
  custom:
    method: 'custom_method'
    custom_method:
      filepath: 'custom-evaluation.py'
      method: 'MyEvaluator'
Reporter:
  save_report_global:
    method: 'save_report'
    granularity: 'global'
...
""",
    "data-constraining": f"""---{_ADULT}
Preprocessor:
  demo:
    method: 'default'
Synthesizer:
  demo:
    method: 'default'
Constrainer:
  demo:
    nan_groups:
      workclass: ('delete', 'occupation')
      occupation:
        'erase':
          - 'income'
      age:
        'copy':
          'educational-num'
    field_constraints:
      - "age >= 18 & age <= 65"
      - "hours-per-week >= 20 & hours-per-week <= 60"
    field_combinations:
      -
        - {{'education': 'income'}}
        - {{'Doctorate': ['>50K'], 'Masters': ['>50K', '<=50K']}}
Postprocessor:
  demo:
    method: 'default'
Reporter:
  output:
    method: 'save_data'
    source: 'Constrainer'
...
""",
    "multi-table": f"""---
Loader:
  data:
    filepath: 'best-practices_multi-table.csv'
{_MADE}
Reporter:
  output:
    method: 'save_data'
    source: 'Postprocessor'
...
""",
    "categorical": """---
Loader:
  data:
    filepath: 'benchmark/best-practices_categorical_high-cardinality.csv'
Preprocessor:
  encoding_uniform:
    sequence:
      - 'encoder'
    encoder:
      birth_year: 'encoding_uniform'
      zodiac: 'encoding_uniform'
      university_code: 'encoding_uniform'
      deparment_code: 'encoding_uniform'
      sex: 'encoding_uniform'
Synthesizer:
  demo:
    method: 'default'
Postprocessor:
  demo:
    method: 'default'
Reporter:
  output:
    method: 'save_data'
    source: 'Postprocessor'
...
""",
    "high-cardinality": """---
Loader:
  data:
    filepath: 'benchmark/best-practices_categorical_high-cardinality.csv'
Preprocessor:
  demo:
    method: 'default'
Synthesizer:
  demo:
    method: 'default'
Postprocessor:
  demo:
    method: 'default'
Constrainer:
  demo:
    field_constraints:
      - "birth_year >= 1990 & (birth_month == 1 | birth_month != 2)"
      - |
        (sex == '男' & identity == '一般生') |
        (sex == '女')
    field_combinations:
      -
        - university_code: university
        - '001': ['國立臺灣大學']
          '002': ['國立政治大學']
    target_rows: 60
    sampling_ratio: 20.0
    max_trials: 100
    verbose_step: 10
Reporter:
  output:
    method: 'save_data'
    source: 'Constrainer'
...
""",
}
"""Need no synthesizer but a Gaussian copula."""

WITH_MORE = {
    "comparing-synthesizers": f"""---{_ADULT}
Synthesizer:
  gaussian-copula:
    method: 'sdv-single_table-gaussiancopula'
  ctgan:
    method: 'sdv-single_table-ctgan'
  tvae:
    method: 'sdv-single_table-tvae'
{_QUALITY}...
""",
    "multi-timestamp": """---
Loader:
  data:
    filepath: 'best-practices_multi-table.csv'
Preprocessor:
  demo:
    method: 'default'
    config:
      scaler:
        'established_date':
          method: 'scaler_timeanchor'
          reference:
            - 'apply_date'
            - 'approval_date'
          unit: 'D'
Synthesizer:
  demo:
    method: 'default'
Reporter:
  output:
    method: 'save_data'
    source: 'Synthesizer'
...
""",
    "benchmark-datasets": f"""---
Loader:
  data:
    filepath: 'benchmark://adult-income'
{_MADE}{_QUALITY}...
""",
    "custom-synthesis": f"""---
Loader:
  data:
    filepath: 'benchmark://adult-income'
Preprocessor:
  demo:
    method: 'default'
Synthesizer:
  custom:
    method: 'custom_method'
    module_path: 'custom-synthesis.py'
    class_name: 'MySynthesizer_Shuffle'
Postprocessor:
  demo:
    method: 'default'
Evaluator:
  demo:
    method: 'default'
{_GLOBAL}...
""",
}
"""Are read, and say what they lack."""

DEMOS = {**WITHOUT_SYNTHESIS, **WITH_A_COPULA, **WITH_MORE}
