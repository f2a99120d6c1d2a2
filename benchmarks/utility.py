"""A model trained on a release beside one trained on the originals: Adult's salary class by gradient boosting.

    python benchmarks/utility.py          # twelve splits; --splits 3 for fewer

Adult (30,162 complete records, eight quasi-identifiers) is found through HUSHTABLE_SHARED. Of every split, 30 % of the
rows are held out; the model trained on the release is tested on them as originals and as they are published. Figures
are means over the splits, seeds 0, 1, 2 ...; no feature and no setting of the models was chosen by them.
"""

import argparse
import os
import statistics
import sys
import warnings
from pathlib import Path

import hushtable as ht

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "arx_adult" / "adult.csv"
NAMES = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
TARGET = "salary-class"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=12)
    splits = parser.parse_args().splits
    if not ADULT.is_file():
        sys.exit(f"no {ADULT}; set HUSHTABLE_SHARED")
    warnings.simplefilter("ignore")
    print("| recoding | k | set-NCP | originals | release, on originals | release, as published | age | education |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for recoding in ("readable", "tight"):
        for k in (2, 3, 5, 10, 20):
            release = ht.anonymize(
                ADULT,
                quasi_identifiers=NAMES,
                models=[ht.KAnonymity(k)],
                method=ht.Mondrian(recoding=recoding),
                roles="trust",
            )
            found = [release.utility(TARGET, seed=seed) for seed in range(splits)]
            models = [each.target for each in found if each.target is not None]
            scores = [
                statistics.mean(getattr(each, name) for each in models)
                for name in ("originals", "release", "published_alike")
            ]
            distances = [found[0].column(name).distance for name in ("age", "education")]
            figures = " | ".join(f"{100 * score:.1f} %" for score in scores)
            apart = " | ".join(f"{distance:.4f}" for distance in distances)
            print(f"| {recoding} | {k} | {release.loss:.4f} | {figures} | {apart} |", flush=True)


if __name__ == "__main__":
    main()
