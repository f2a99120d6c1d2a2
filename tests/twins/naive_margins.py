"""What a cell of a synthetic column may be, from the definitions, one record at a time.

Numbers: values that ten people share and that fill a bin, or are heaps, stay. The others lie in runs between them, cut
into bins from the left, each as soon as it has enough people; what is left joins the last. A cell of a bin lies evenly
between its ends. Categories: rare ones become one of the others, or stay empty.
"""

import math


def people_of(records):
    """Each value's persons; `records` are (value, person) with a person of its own where it is None."""
    owners = {}
    for i, (value, person) in enumerate(records):
        owners.setdefault(value, set()).add(("row", i) if person is None else person)
    return owners


def weight_of(records):
    """Each value's records, those of a person counting one together, in all values."""
    persons = [person for _, person in records]
    weights = {}
    for value, person in records:
        weights[value] = weights.get(value, 0) + (1 if person is None else 1 / persons.count(person))
    return weights


def naive_bins(records, least=10, most_bins=64):
    """The bins of a column of numbers: (values, None) of one that stays, (values, (low, high)) of others."""
    owners, weights = people_of(records), weight_of(records)
    values = sorted(value for value in owners if value is not None)
    fill = max(least, sum(weights[value] for value in values) / most_bins)

    def stays(i):
        n = len(owners[values[i]])
        around = [len(owners[values[k]]) for k in range(max(0, i - 5), min(len(values), i + 6)) if k != i]
        return n >= least and (n >= fill or not around or n >= 3 * sum(around) / len(around))

    runs = []
    for i, value in enumerate(values):
        if stays(i):
            runs.append((True, [value]))
        elif runs and not runs[-1][0]:
            runs[-1][1].append(value)
        else:
            runs.append((False, [value]))
    bins = []
    for is_kept, run in runs:
        if is_kept:
            bins.append((True, run))
            continue
        parts, part = [], []
        for value in run:
            part.append(value)
            if sum(weights[each] for each in part) >= fill - 1e-6:
                parts.append(part)
                part = []
        if part and parts:
            parts[-1] += part
        elif part:
            parts = [part]
        bins += [(False, each) for each in parts]
    return [_with_ends(bins, b, records, weights, least) for b in range(len(bins))]


def _with_ends(bins, b, records, weights, least):
    is_kept, values = bins[b]
    if is_kept:
        return values, None
    is_short = sum(weights[value] for value in values) < least - 1e-6
    inside = [value for value, _ in records if value is not None and value in values]
    mean = sum(inside) / len(inside)
    deviation = math.sqrt(3 * sum((value - mean) ** 2 for value in inside) / len(inside))
    sides = {}
    for side, other in (("low", b - 1), ("high", b + 1)):
        own = min(values) if side == "low" else max(values)
        if not 0 <= other < len(bins):
            sides[side] = own, False
            continue
        other_is_kept, other_values = bins[other]
        near = max(other_values) if side == "low" else min(other_values)
        sides[side] = (near, is_short) if other_is_kept else ((own + near) / 2, True)
    (low, knows_low), (high, knows_high) = sides["low"], sides["high"]
    new_low = low if knows_low else (2 * mean - high if knows_high else mean - deviation)
    new_high = high if knows_high else (2 * mean - low if knows_low else mean + deviation)
    return values, (min(max(new_low, low), high), min(max(new_high, low), high))


def naive_number(records, place, least=10, most_bins=64):
    """The cell of a column of numbers at a place of its line."""
    n_missing = sum(value is None for value, _ in records)
    if place < n_missing:
        return None
    begin = n_missing
    for values, ends in naive_bins(records, least, most_bins):
        n = sum(value in values for value, _ in records if value is not None)
        if place < begin + n:
            if ends is None:
                return values[0]
            if len({value for value, _ in records if value is not None}) == 1:
                return None
            return ends[0] + (place - begin) / n * (ends[1] - ends[0])
        begin += n
    raise AssertionError(place)


def naive_shares(records, least=10):
    """The share of each category among synthetic cells, None for empty ones."""
    owners, n = people_of(records), len(records)
    counts = {value: sum(each == value for each, _ in records) for value in owners}
    rare = {value for value in counts if value is not None and len(owners[value]) < least}
    kept = {value: count for value, count in counts.items() if value is not None and value not in rare}
    n_rare, n_kept = sum(counts[value] for value in rare), sum(kept.values())
    empty = counts.get(None, 0)
    if n_rare > n_kept:
        return {**{value: count / n for value, count in kept.items()}, None: (empty + n_rare) / n}
    shares = {value: (count + n_rare * count / n_kept) / n for value, count in kept.items()}
    return {**shares, None: empty / n}
