"""The codes that an assistant gets instead of figures, and what each means: fixed texts, always the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CODES: Final[Mapping[str, str]] = {
    "ACCEPTED": "The draft is on the menu. Ask for a verdict on it.",
    "UNDECIDED": "A column has the role ask. Draft a role for every one of them.",
    "NEEDS_PERSON": "Only a person may decide this, on the local page.",
    "NO_PAGE": "The server was started without a page. A person must decide elsewhere.",
    "NOT_FEASIBLE": "No release meets these conditions. Draft a smaller k, more suppression or coarser hierarchies.",
    "DOES_NOT_FIT": "A hierarchy or a kind of the draft does not fit the cells of its column. Draft another one.",
    "KEPT_COLUMNS_SINGLE_OUT": "Columns that are kept as they are single people out. Draft the role quasi-identifier "
    "or leave out for the candidates, or write a reason, which a person must accept.",
    "LOOKS_LIKE_IDENTIFIER": "A published column looks like a direct identifier. Draft the role identifier for it.",
    "NOT_VERIFIED": "The release does not hold what it claims. Change the draft.",
    "UNKNOWN_COLUMN": "The sheet has no column of this id. Use the ids of look.",
    "COLUMN_TWICE": "One draft names a column twice. Put its changes into one entry.",
    "NO_QUASI_IDENTIFIER": "A hierarchy and an importance need the role quasi-identifier.",
    "LADDER_DOES_NOT_FIT": "This hierarchy does not fit the kind of the column. Use those of ladders.",
    "DOES_NOT_GO_TOGETHER": "The changes do not go together, or not with the rest of the policy. Draft fewer.",
    "UNKNOWN_DRAFT": "The server knows no draft of this id. Use an id that propose returned.",
    "POLICY_CHANGED": "A person changed the policy on the page. Propose again.",
    "NO_VALUES": "No values of this column are shown: it names people, is sensitive, free text, or has too many.",
    "WHOSE_ROWS": "Values are shown only after a person has said whose record a row is: --person COLUMN or "
    "--one-record on the command line of the server.",
    "NO_MORE_VERDICTS": "All 50 verdicts on this table are used. A person goes on, on the local page.",
    "NOT_SIGNED": "No release is signed. Ask for a signature, and wait for the person.",
    "CANCELLED": "The work was cancelled.",
    "WRONG_ARGUMENTS": "The arguments do not fit the schema of the tool.",
    "FAULT": "The server could not answer. Tell the person.",
}
"""What every code means."""
