"""Release: what every protecting method returns."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hushtable import drafts, figures, frames, manifest, pseudonyms
from hushtable._types import BoolArray, CountArray, frozen
from hushtable.cells import SUPPRESSED
from hushtable.column import ColumnSpec, from_texts
from hushtable.errors import InputError, with_hint
from hushtable.frames import Frame
from hushtable.models.base import PrivacyModel, describe, model_to_dict
from hushtable.partition import Partition
from hushtable.pseudonyms import Pseudonyms
from hushtable.quality.loss import Quality, average_class_size, discernibility
from hushtable.recoding import Recoding
from hushtable.remnants import without_remnants
from hushtable.search import Trace
from hushtable.table import Table
from hushtable.verifier import Verdict, verify

__all__ = ["Release"]


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A protected table and how it came about.

    Attributes
    ----------
    source : Frame or Table
        The input, untouched.
    partition : Partition
        The classes of the source's rows.
    recoding : Recoding
        What the classes publish.
    suppressed : ndarray of bool, shape (n_rows,)
        Rows that publish ``*`` in every quasi-identifier and sensitive column.
    models : tuple of PrivacyModel
        What every class satisfies.
    loss : float
        The value of the objective on the published values.
    quality : Quality
        Of the classes of the partition.
    trace : Trace
    sensitive : tuple of str
        The sensitive columns, those that a model judges among them.
    specs : mapping of column to ColumnSpec
        How quasi-identifiers and sensitive columns were typed, those of the population included.
    hierarchies : mapping of column to Hierarchy
        Aligned to the columns.
    population : path, dataframe or Table, optional
        What k-map and delta-presence counted.
    removed : tuple of str
        Columns that the release leaves out.
    pseudonyms : Pseudonyms or None
        Columns whose cells became keyed pseudonyms.
    drops_suppressed : bool
        Whether suppressed records are left out instead of publishing ``*``.
    alternatives : tuple of Release
        Other releases of the same loss, where a method looks for them.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    source: Frame | Table = field(repr=False)
    partition: Partition
    recoding: Recoding = field(repr=False)
    suppressed: BoolArray = field(repr=False)
    models: tuple[PrivacyModel, ...]
    loss: float
    quality: Quality = field(repr=False)
    trace: Trace = field(repr=False)
    sensitive: tuple[str, ...] = ()
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)
    hierarchies: Mapping[str, Any] = field(default_factory=dict, repr=False)
    population: Any = field(default=None, repr=False)
    removed: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    drops_suppressed: bool = False
    alternatives: tuple[Release, ...] = field(default=(), repr=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        frozen(self.suppressed)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The generalized columns."""
        return tuple(column.name for column in self.recoding.columns)

    @property
    def n_suppressed(self) -> int:
        """How many records are suppressed."""
        counts = self.source.counts if isinstance(self.source, Table) else np.ones(len(self.suppressed), dtype=np.int64)
        return int(counts[self.suppressed].sum())

    @property
    def frame(self) -> Any:
        """The protected table, of the kind that went in: same columns, same row order, same index."""
        if isinstance(self.source, Table):
            return self._published_table(self.source)
        return self._published_frame(self.source).native

    def plot_search(self, *, ax: Any = None) -> Any:
        """Draw how the search went, best loss and proven bound; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own, which no window shows, when not given.

        Raises
        ------
        InputError
            The method keeps no history: Mondrian, or a table solved at once.
        """
        history = self.trace.effort.history if self.trace.effort is not None else ()
        if not history:
            msg = with_hint("the search kept no history to draw.", "MinGen of many rows and Genetic keep one.")
            raise InputError(msg)
        steps, bounds, losses = (
            np.array([np.nan if x is None else x for x in each]) for each in zip(*history, strict=True)
        )
        # Histories without a bound count generations, the others seconds.
        label = "seconds" if np.isfinite(bounds).any() else "generation"
        return figures.convergence(steps, bounds, losses, label=label, ax=ax)

    def verify(self) -> Verdict:
        """Judge the protected table anew, from its published cells alone."""
        return self._verify(self._published())

    def write(
        self,
        path: str | Path,
        *,
        keep_order: bool = False,
        external: bool = False,
        policy: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> Verdict:
        """Write the protected table and its manifest, whole and verified or not at all.

        The draft is read back and verified before it gets its name.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside it.
        keep_order : bool
            Keep the order of the rows. Else they are shuffled with the operating
            system's randomness, because an order can identify people.
        external : bool
            Write the manifest that goes with a published file.
        policy : mapping, optional
            What was asked for, for the manifest.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.

        Raises
        ------
        VerificationError
            The written table does not hold what the models ask; nothing is left behind.
        InputError
            The file cannot be written, or must not be.
        """
        path = Path(path)
        frames.file_kind(path)
        outputs = (path, manifest.manifest_path(path))
        drafts.check_outputs(outputs, self.inputs, overwrite=overwrite)
        frame = self._published()
        frames.check_writable(frame, path)
        if not keep_order:
            frame = frame.take(np.random.default_rng().permutation(frame.n_rows))
        with drafts.replacing(*outputs) as (draft, sidecar):
            frames.write(frame, draft)
            verdict = self._verify(
                frames.read(draft, delimiter=frames.written_delimiter(frame, path))
            ).raise_if_failed()
            entries = self._manifest(path, manifest.sha256(draft), verdict, policy)
            if external:
                # Beside the rows of the file, those of the input would tell how many were dropped.
                entries = manifest.external({**entries, "n_records": verdict.n_records})
            sidecar.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return verdict

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the release as plain values, none of them a person's.

        Classes are counted as they are published: those that publish the same cells are one.
        """
        sizes = self._published_sizes()
        quality = replace(
            self.quality,
            discernibility=discernibility(sizes, self.n_suppressed),
            average_class_size=average_class_size(sizes),
            n_classes=len(sizes),
        )
        return {
            "n_records": self.partition.n_records + self.n_suppressed,
            "n_suppressed": self.n_suppressed,
            "n_classes": len(sizes),
            "smallest_class": int(sizes.min()),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "removed": list(self.removed),
            "pseudonymized": list(self.pseudonyms.columns) if self.pseudonyms else [],
            "models": [model_to_dict(model) for model in self.models],
            "recoding": self.recoding.style,
            "loss": self.loss,
            "quality": quality.to_dict(),
            "trace": self.trace.to_dict(),
        }

    def _repr_html_(self) -> str:
        models = html.escape(" and ".join(map(describe, self.models)))
        sizes = self._published_sizes()
        return (
            f"<b>Release</b>: {models} on {html.escape(', '.join(self.quasi_identifiers))}<br>"
            f"{len(sizes)} classes, smallest {sizes.min()}, "
            f"loss {self.loss:.4f}, {self.n_suppressed} records suppressed"
        )

    def _published_sizes(self) -> CountArray:
        """Count the records of every distinct combination of published cells."""
        held = np.flatnonzero(self.partition.sizes)
        codes = np.zeros((len(self.quasi_identifiers), len(held)), dtype=np.int64)
        for j, name in enumerate(self.quasi_identifiers):
            label_of_class, labels = self.recoding.labels(name)
            place_of_text: dict[str | None, int] = {}
            place_of_label = np.array([place_of_text.setdefault(label, len(place_of_text)) for label in labels])
            codes[j] = place_of_label[label_of_class[held]]
        _, published = np.unique(codes, axis=1, return_inverse=True)
        # Counts are whole numbers far below 2^53, so that bincount's floats are exact.
        return np.bincount(published.ravel(), weights=self.partition.sizes[held]).astype(np.int64)

    def _published(self) -> Frame:
        if isinstance(self.source, Table):
            return frames.read(self._published_table(self.source).expand())
        return self._published_frame(self.source)

    def _published_frame(self, source: Frame) -> Frame:
        texts = {}
        for name in self.quasi_identifiers:
            label_of_class, labels = self.recoding.labels(name)
            texts[name] = frames.gather(labels, label_of_class[self.partition.labels], self.suppressed)
        for name in self._masked:
            texts[name] = frames.mask(source.column(name), self.suppressed, name)
        frame = source.with_texts(texts).drop(self.removed)
        if self.drops_suppressed:
            frame = frame.take(np.flatnonzero(~self.suppressed))
        frame = pseudonyms.pseudonymize(frame, self.pseudonyms) if self.pseudonyms else frame
        return without_remnants(frame, rows_are_gone=self.drops_suppressed)

    @property
    def _masked(self) -> tuple[str, ...]:
        """Sensitive columns in which ``*`` is published."""
        return self.sensitive if self.n_suppressed and not self.drops_suppressed else ()

    def _published_table(self, source: Table) -> Table:
        """Code the labels: a published column is a category whose values are its cells."""
        columns, codes = list(source.columns), source.codes.copy()
        for name in self.quasi_identifiers:
            label_of_class, labels = self.recoding.labels(name)
            texts = [*(label or "" for label in labels), SUPPRESSED]
            column, code_of_text = from_texts(name, texts, "category")
            label_of_row = np.where(self.suppressed, len(labels), label_of_class[self.partition.labels])
            j = source.index(name)
            columns[j], codes[j] = column, code_of_text[label_of_row]
        for name in self._masked:
            j = source.index(name)
            column, code_of_text = from_texts(name, [*columns[j].texts(), SUPPRESSED], "category")
            # The last entry serves the missing cells, which index it as -1.
            masked = np.where(self.suppressed, len(code_of_text) - 1, codes[j])
            columns[j], codes[j] = column, np.append(code_of_text, np.int32(-1))[masked]
        kept = [name for name in source.names if name not in self.removed]
        table = Table(tuple(columns), codes, source.counts).select(kept)
        table = table.take(np.flatnonzero(~self.suppressed)) if self.drops_suppressed else table
        table = pseudonyms.pseudonymize_table(table, self.pseudonyms) if self.pseudonyms else table
        return table.without_unused()

    def _verify(self, frame: Frame) -> Verdict:
        return verify(
            frame,
            quasi_identifiers=self.quasi_identifiers,
            models=self.models,
            sensitive=self.sensitive,
            suppressed=SUPPRESSED if self.n_suppressed else None,
            specs=self.specs,
            hierarchies=self.hierarchies,
            population=self.population.expand() if isinstance(self.population, Table) else self.population,
            original=self._original() if self.n_suppressed or self._compares_rows else None,
        )

    @property
    def _compares_rows(self) -> bool:
        return any(model.needs.original for model in self.models)

    def _original(self) -> Any:
        return self.source.expand() if isinstance(self.source, Table) else self.source

    def _manifest(self, path: Path, digest: str, verdict: Verdict, policy: Mapping[str, Any] | None) -> dict[str, Any]:
        return {
            "hushtable": version("hushtable"),
            "file": path.name,
            "sha256": digest,
            "claim": (
                f"{' and '.join(verdict.conditions)} on {', '.join(self.quasi_identifiers)}, "
                "for a reader who knows no other column of a record"
            ),
            "verified": verdict.passed,
            **self.to_dict(),
            "kinds": {name: self.specs[name].kind for name in (*self.quasi_identifiers, *self.sensitive)},
            "policy": dict(policy) if policy else None,
        }
