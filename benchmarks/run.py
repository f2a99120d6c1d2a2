"""The source's own pipeline on Adult, step by step: a copula and mpUCCs up to 5 columns with a control.

    python benchmarks/run.py

Reads ``data/adult/adult_ori.csv`` in HUSHTABLE_SHARED. No peer is beside us: PETsARD wants Python before 3.12,
and its synthesizer is under a business licence.
"""

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

import hushtable as ht

RUNS = 3
WHOLE = """
Loader: {{data: {{filepath: '{path}'}}}}
Splitter: {{demo: {{num_samples: 1, train_split_ratio: 0.8}}}}
Preprocessor: {{demo: {{method: default}}}}
Synthesizer: {{demo: {{method: default}}}}
Postprocessor: {{demo: {{method: default}}}}
Evaluator:
{evaluator}
Reporter:
  output: {{method: save_data, source: Synthesizer}}
  report: {{method: save_report, granularity: {granularity}}}
"""
EVALUATORS = {
    "as it stands": ("  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5]}", "global"),
    "all granularities": (
        "  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5]}\n  demo-quality: {method: default}",
        "[global, columnwise, pairwise, details, tree]",
    ),
    "compat: petsard-1.6": ("  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5], compat: petsard-1.6}", "global"),
}


def main() -> None:
    """Print the median seconds of every step."""
    shared = Path(os.environ.get("HUSHTABLE_SHARED", "../shared"))
    path = (shared / "data/adult/adult_ori.csv").resolve()
    if not path.is_file():
        sys.exit(f"no {path}; set HUSHTABLE_SHARED")
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores, median of {RUNS} runs")
    for name, (evaluator, granularity) in EVALUATORS.items():
        text = WHOLE.format(path=path, evaluator=evaluator, granularity=granularity)
        seconds: dict[str, list[float]] = defaultdict(list)
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                done = ht.Pipeline.parse(text, folder=folder).run(Path(folder) / "out", cache=False)
            for each in done.timings:
                seconds[f"{each.step.module}[{each.step.experiment}]"].append(each.seconds)
        print(f"\n{name}: {sum(map(median, seconds.values())):.1f} s")
        for step, measured in seconds.items():
            print(f"  {step:32} {median(measured):8.2f} s")


if __name__ == "__main__":
    main()
