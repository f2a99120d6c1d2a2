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
    "with a control": ("  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5]}", "global"),
    "with a control, all granularities": (
        "  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5]}\n  demo-quality: {method: default}",
        "[global, columnwise, pairwise, details, tree]",
    ),
    "without a control (`compat: petsard-1.6`)": (
        "  demo-mpuccs: {method: mpuccs, n_cols: [1, 2, 3, 4, 5], compat: petsard-1.6}",
        "global",
    ),
}


def main() -> None:
    """Print the median seconds: of each pipeline, and of its longest steps."""
    shared = Path(os.environ.get("HUSHTABLE_SHARED", "../shared"))
    path = (shared / "data/adult/adult_ori.csv").resolve()
    if not path.is_file():
        sys.exit(f"no {path}; set HUSHTABLE_SHARED")
    print("| pipeline | s | copula, s | mpuccs, s | other steps, s |\n|---|---:|---:|---:|---:|")
    for name, (evaluator, granularity) in EVALUATORS.items():
        text = WHOLE.format(path=path, evaluator=evaluator, granularity=granularity)
        seconds: dict[str, list[float]] = defaultdict(list)
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                done = ht.Pipeline.parse(text, folder=folder).run(Path(folder) / "out", cache=False)
            for each in done.timings:
                seconds[f"{each.step.module}[{each.step.experiment}]"].append(each.seconds)
        steps = {step: median(measured) for step, measured in seconds.items()}
        whole, copula, search = sum(steps.values()), steps["Synthesizer[demo]"], steps["Evaluator[demo-mpuccs]"]
        print(f"| {name} | {whole:.1f} | {copula:.1f} | {search:.1f} | {whole - copula - search:.1f} |", flush=True)


if __name__ == "__main__":
    main()
