"""Tables made from records, again beside earlier ones, and rounded: what is written holds, and hides what it hid."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome

_REFUSALS = (ht.InfeasibleError,)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: one table, then another beside it, then both rounded."""
    outcome = Outcome()
    n_rows, names = random.randint(1, 300), ["g", "h", "j"][: random.randint(2, 3)]
    weights = [32, 16, 8, 4, 2, 1]  # some labels are rare
    columns = {name: random.choices("abcdef", weights, k=n_rows) for name in names}
    people = pl.DataFrame(columns)
    first, second = random.sample(names, 2), random.sample(names, random.randint(1, 2))
    rules = ht.CellRules(random.randint(2, 9), level=random.choice(["exact", "upper"]))
    reader = ht.ReaderKnowledge(zeros=random.choice(["shown", "hidden"]))
    base, seed = random.randint(2, 9), random.randint(0, 2**31)
    outcome.reproduction = (
        f"people = pl.DataFrame({columns!r})\n"
        f"ht.tabulate(people, by={first!r}, rules={rules!r}, reader={reader!r}).write('first.csv')\n"
        f"ht.tabulate(people, by={second!r}, rules={rules!r}, reader={reader!r}, earlier='first.csv')\n"
        f"ht.round_tables(people, by={[first, second]!r}, base={base}, seed={seed})"
    )
    with outcome.guarded("tabulate", _REFUSALS):
        made = ht.tabulate(people, by=first, rules=rules, reader=reader)
        made.write(folder / "first.csv")
        outcome.count("hidden" if made.pattern.is_hidden.any() else "nothing hidden")
        again = ht.tabulate(people, by=second, rules=rules, earlier=folder / "first.csv")
        again.write(folder / "second.csv")
        old, new = _read_cells(made), _read_cells(again)
        outcome.expect(old == {key: new.get(key) for key in old}, "an earlier cell is published otherwise", (old, new))
        found = ht.check_tables([folder / "first.csv", folder / "second.csv"])
        outcome.expect(found.passed, "both files together tell a hidden cell", found.outcomes)
    with outcome.guarded("round_tables", _REFUSALS):
        rounded = ht.round_tables(people, by=[first, second], base=base, seed=seed)
        rounded.write(folder / "rounded.csv")
        outcome.count(f"steps {rounded.steps}")
        outcome.expect(int(rounded.moved.max()) <= rounded.reach, "a count is farther off than said", rounded.to_dict())
        outcome.expect(ht.check_tables(folder / "rounded.csv").passed, "a rounded count is known", rounded.to_dict())
    return outcome


def _read_cells(made: ht.Tabulation) -> dict[tuple[tuple[str, str], ...], str]:
    rows = made.frame.rows(named=True)
    return {
        tuple(sorted((name, label) for name, label in row.items() if name != "n" and label != "Total")): row["n"]
        for row in rows
    }
