"""What a claim in a manifest says that this version does not read: it is named, and never counts as judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hushtable.claims.verdict import Claim
from hushtable.io import FORM, describe_other_form

_OF_PEOPLE = ("sentence",)  # says in words, which may change, what the other entries say


def find_unread_entries(entries: object, claim: Claim, writer: object = None) -> dict[str, str]:
    """Return what of a claim's entries is not in the claim that was read of them, and why it could not be judged."""
    if not isinstance(entries, Mapping):
        return {"the claim": "it is none"}
    newer = describe_other_form("claim", entries.get(FORM), writer)
    reason = newer or "this version does not read this entry so"
    found = {f"what {path} of the claim says": reason for path in _compare(entries, claim.to_dict(), "")}
    return {**found, **({"all that the claim says": newer} if newer else {})}


def _compare(written: object, read: object, path: str) -> Iterator[str]:
    """Yield the places at which what was written is not what was read."""
    if isinstance(written, Mapping) and isinstance(read, Mapping):
        for name, entry in written.items():
            place = f"{path}.{name}" if path else str(name)
            if not path and name in (FORM, *_OF_PEOPLE):
                continue
            if name not in read:
                yield place
            elif read[name] is not None or not path.startswith("hierarchies"):
                # Of a hierarchy that is not read, the verdict says by itself what it takes.
                yield from _compare(entry, read[name], place)
    elif isinstance(written, list) and isinstance(read, Sequence) and not isinstance(read, str):
        if len(written) != len(read):
            yield path
        for first, second in zip(written, read, strict=False):
            yield from _compare(first, second, path)
    elif type(written) is bool or type(read) is bool:
        if written is not read:
            yield path
    elif written != read:
        yield path
