"""Release: what every protecting method returns."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, CodeArray, CountArray, FloatArray, FrameT, freeze_array
from hushtable.claims import Certificate, Classes, Combinations, Linkage, Matchings, Verdict
from hushtable.columns import SUPPRESSED, ColumnSpec, to_enumeration
from hushtable.errors import InputError, check_type
from hushtable.hierarchy import Hierarchy, NamedSets
from hushtable.io import Formulas, Frame, Writing, frames
from hushtable.models import PrivacyModel, model_to_dict
from hushtable.quality import Quality, average_class_size, discernibility, measure_quality, release_bound
from hushtable.recoding import SUPPRESSION_STYLE, PublishedIntervals, Recoding
from hushtable.release import manifest
from hushtable.release.batch import Batch, Learns, NextBatch
from hushtable.release.codebook import Codebook
from hushtable.release.edition import Edition, Rewritten
from hushtable.release.exposing import measure_kept_columns
from hushtable.release.exposure import Exposure, ExposureLimit
from hushtable.release.facts import describe_release
from hushtable.release.linking import linking_columns, measure_release_linkage
from hushtable.release.pseudonyms import Pseudonyms
from hushtable.release.writing import (
    Content,
    Destination,
    ReleaseContent,
    TableContent,
    is_folder,
    raise_if_dates_are_ordered,
    write,
)
from hushtable.search import Budget, Trace
from hushtable.tables import Partition, Table, encode_table
from hushtable.wording import StatesFacts

if TYPE_CHECKING:
    from hushtable.quality import Utility
    from hushtable.release.blanks import Blanks
    from hushtable.release.mapping import AppliedMapping
    from hushtable.release.origin import Origin, PublishedCells
    from hushtable.release.timelines.facts import Timelines
    from hushtable.risk import OwnAttacks


MOST_ATTACKED: Final = 5_000_000
"""Records that attacks look at, one by one, of a release whose rows are not in memory."""

RowsT = TypeVar("RowsT")

_PARQUET_PART: Final = Path("part.parquet")


@dataclass(frozen=True, slots=True, eq=False)
class Release(StatesFacts, Generic[FrameT]):
    """A protected table and how it came about.

    Attributes
    ----------
    source : Frame or Table
        The input, untouched. Where its rows are not in memory: the distinct rows of the columns that were judged, each
        with how many records it stands for.
    claim : Classes, Matchings or Combinations
        What the release promises.
    partition : Partition
        The classes of the source's rows; label -1: suppressed.
    recoding : Recoding
        What the classes publish.
    loss : float
        The value of the objective on the published values.
    trace : Trace
    removed : tuple of str
        Columns that the release leaves out.
    left_out : tuple of str
        Those of them that identify nobody.
    pseudonyms : Pseudonyms or None
        Columns whose cells became keyed pseudonyms.
    drops_suppressed : bool
        Whether suppressed records are left out instead of publishing ``*``.
    alternatives : tuple of Release
        Other releases of the same loss, where a method looks for them.
    placing : Placing, optional
        Where rows go that the search has not seen.
    exposure : Exposure, optional
        Who can be found by the columns that are kept as they are; None where nobody has measured it.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    writing : Writing
        How a policy wants a CSV to be written.
    batch : Batch, optional
        How it came about, where its rows were published by the cells of an earlier release.
    learner : Learns, optional
        What tells by which cells new rows can be published.
    certificate : Certificate, optional
        Why no release of its kind loses less, for `hushtable.check_certificate`: a document about the input, which
        nothing writes but `Certificate.write`.
    origin : Origin, optional
        Where all rows are, if they are not in memory: in files, or in an engine.
    timelines : Timelines, optional
        How the dates of persons were shifted, or counted from the first, and what they still tell. The source then has
        the changed dates, and no record that was left out at the ends.
    policy_sha256 : str or None
        Of the policy that was carried out; of a batch, the policy of the release whose cells it gets.
    """

    source: Frame | Table = field(repr=False)
    claim: Classes | Combinations | Matchings
    partition: Partition
    recoding: Recoding = field(repr=False)
    loss: float
    trace: Trace
    removed: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    left_out: tuple[str, ...] = field(default=(), kw_only=True)
    drops_suppressed: bool = False
    alternatives: tuple[Release, ...] = field(default=(), repr=False)
    placing: Any = field(default=None, repr=False)
    exposure: Exposure | None = field(default=None, repr=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    writing: Writing = field(default_factory=Writing, repr=False)
    batch: Batch | None = None
    learner: Learns | None = field(default=None, repr=False)
    certificate: Certificate | None = field(default=None, repr=False)
    origin: Origin | None = field(default=None, repr=False)
    timelines: Timelines | None = field(default=None, repr=False)
    policy_sha256: str | None = field(default=None, repr=False)
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The generalized columns."""
        return self.claim.columns

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """What the classes satisfy."""
        return self.claim.models

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, those that a model judges among them."""
        return self.claim.sensitive

    @property
    def specs(self) -> Mapping[str, ColumnSpec]:
        """How quasi-identifiers and sensitive columns were typed, those of the population included."""
        return self.claim.specs

    @property
    def hierarchies(self) -> Mapping[str, Any]:
        """The hierarchies, aligned to the columns."""
        return self.claim.hierarchies

    @property
    def person(self) -> str | None:
        """The column that says whose record a row is, where persons are counted."""
        return self.claim.person

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns, in order."""
        return tuple(name for name in self.input_columns if name not in self.removed)

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns of the input, in order."""
        return self.source.names if self.origin is None else self.origin.names

    @property
    def pseudonymized(self) -> tuple[str, ...]:
        """The columns whose cells become pseudonyms."""
        return self.pseudonyms.columns if self.pseudonyms else ()

    @property
    def fresh(self) -> tuple[str, ...]:
        """Those of them that have a new pseudonym for every record."""
        return self.pseudonyms.fresh if self.pseudonyms else ()

    @property
    def generalized(self) -> tuple[str, ...]:
        """The quasi-identifiers that lost something."""
        return tuple(name for name, lost in self.quality.by_column.items() if lost)

    @property
    def engine(self) -> str:
        """What holds the rows: "memory", "stream" for files, else "polars", "duckdb" or "spark"."""
        return "memory" if self.origin is None else self.origin.engine_name

    @property
    def is_row_by_row(self) -> bool:
        """Whether the distinct rows were too many to be counted: the source then has a row of every class alone."""
        return self.origin is not None and self.origin.is_row_by_row

    @property
    def distinct(self) -> Release:
        """The release of the rows of the source alone; itself, where they are all."""
        if self.origin is None:
            return self
        if "distinct" not in self._cache:
            # A pseudonym that is no one's says as little as a column that is left out.
            hidden = tuple(name for name in (*self.removed, *self.fresh) if name in self.source.names)
            claim = self.claim.with_rounded_columns(self.source.names)
            self._cache["distinct"] = replace(
                self, claim=claim, origin=None, removed=hidden, left_out=(), pseudonyms=None, exposure=None
            )
        distinct: Release = self._cache["distinct"]
        return distinct

    @property
    def counted(self) -> Release:
        """The release of the rows of the source, as all records are published: with pseudonyms."""
        if self.origin is None:
            return self
        keyed = [name for name in self.source.names if self.pseudonyms and name in self.pseudonyms.keyed]
        return replace(self.distinct, pseudonyms=self.pseudonyms.select(keyed) if self.pseudonyms else None)

    @property
    def margins(self) -> Frame:
        """Rows with counts whose columns hold each cell of the judged columns as often as all records do."""
        margins = None if self.origin is None else self.origin.margins
        return self.source.frame() if margins is None else margins.with_specs(self.specs)

    @property
    def cells(self) -> PublishedCells:
        """What is published of every row of the source, in Parquet."""
        return self._publish_cells(_PARQUET_PART)

    def _publish_cells(self, path: Path) -> PublishedCells:
        """Return what is published of every row of the source in a file of a kind."""
        from hushtable.release.origin import PublishedCells

        source, edition = self.source.frame(), replace(self.distinct.edition, rows=None)
        names = [name for name in self.columns if name in (*edition.rewritten, *edition.starred, *edition.as_text)]
        # Column by column, because memory is short: rows may be many, and texts are long.
        frames_ = (edition.select([name]).build_file_frame(path)[0] for name in names)
        alone = ((name, frame.column(name)) for frame in frames_ for name in frame.columns)
        return PublishedCells.from_series(
            keys={name: source.column(name) for name in source.columns},
            published={name: to_enumeration(cells) for name, cells in alone},
            is_published=self.published_rows,
            columns=self.edition.names,
            pseudonyms=self.pseudonyms,
            counts=source.records,
        )

    @property
    def suppressed(self) -> BoolArray:
        """Rows in no class, which publish ``*`` in every quasi-identifier and sensitive column, or are dropped."""
        return freeze_array(np.asarray(self.partition.labels < 0))

    @property
    def published_rows(self) -> BoolArray:
        """Rows of the source that are published: all, unless suppressed ones are left out."""
        return ~self.suppressed if self.drops_suppressed else np.ones(len(self.suppressed), dtype=bool)

    @property
    def n_suppressed(self) -> int:
        """How many records are suppressed."""
        return int(self.source.records[self.suppressed].sum())

    @property
    def quality(self) -> Quality:
        """How much was lost, by other measures; of the classes of the partition."""
        if "quality" not in self._cache:
            self._cache["quality"] = measure_quality(self.recoding, self.partition.sizes, self.n_suppressed)
        measured: Quality = self._cache["quality"]
        return measured

    @property
    def blanks(self) -> Blanks | None:
        """What local suppression blanked, by three readings of a blank; None of other methods, and of later batches."""
        if self.recoding.style != SUPPRESSION_STYLE or self.batch is not None:
            return None
        if "blanks" not in self._cache:
            from hushtable.release.blanks import measure_blanks

            table = encode_table(self.source.frame(), list(self.quasi_identifiers), self.claim.specs)
            self._cache["blanks"] = measure_blanks(table, self.partition, self.recoding)
        blanks: Blanks = self._cache["blanks"]
        return blanks

    @property
    def edition(self) -> Edition:
        """What is published of the source, and which columns of all rows."""
        if self.origin is not None:
            # The source lacks the columns that are kept: no cell of them is told.
            return replace(self.distinct.edition, columns=self.columns, pseudonyms=self.pseudonyms)
        suppressed = self.suppressed
        stars = self.sensitive if suppressed.any() and not self.drops_suppressed else ()
        return Edition(
            self.source,
            columns=self.columns,
            rewritten={name: self.rewritten(name) for name in self.quasi_identifiers},
            starred=dict.fromkeys(stars, suppressed),
            rows=np.flatnonzero(~suppressed) if self.drops_suppressed else None,
            pseudonyms=self.pseudonyms,
            as_text=tuple(name for name in self.sensitive if self.specs[name].kind in ("category", "ordered")),
            labels=self.writing.labels,
            bounds=self.claim.bounds,
        )

    @property
    def frame(self) -> FrameT:
        """The protected table, of the kind that went in: same columns, same row order, same index.

        Of rows that are not in memory it is a lazy frame of their engine, and nothing is computed yet. The order of
        rows can link the records of a person. Give the file of `write` away, whose rows are shuffled.
        ExposureError where a column of it looks like a direct identifier, and nobody accepted it.
        """
        if self.exposure is not None:
            self.exposure.raise_if_found("identifiers")
        if self.origin is not None:
            return cast("FrameT", self.origin.publish_lazily(self.cells))
        if "frame" not in self._cache:
            self._cache["frame"] = self.edition.native
        made: FrameT = self._cache["frame"]
        return made

    @property
    def codebook(self) -> Codebook:
        """What the readers of the release need to know of its columns; see `hushtable.release.codebook`."""
        recoding = self.recoding
        grouped = [name for name, each in recoding.meanings().items() if _is_of_data(each)]
        count = None
        if self.origin is not None and self.is_row_by_row:
            count = partial(self.origin.count_by_record, specs=self.specs)
        return Codebook(
            self.edition, self.claim, recoding.columns, recoding.style, self.removed, grouped, count, self.timelines
        )

    @property
    def learned(self) -> NextBatch:
        """The cells of the release and where new rows go; see `hushtable.anonymizers.fitted.LearnedRecoding`.

        Raises
        ------
        InputError
            It does not come from `anonymize`; or the records were cut one by one: their distinct rows are not known.
        """
        if self.is_row_by_row:
            raise InputError(
                "the rows hardly repeat, so that its records were cut one by one: what new rows are published by is "
                "not kept.",
                hint="anonymize a part of the files that fits, and publish the others by its cells.",
            )
        if self.timelines is not None:
            raise InputError(
                "the dates of persons were changed, and who is in several batches can be found by them.",
                hint="anonymize all rows together; for a later release, with the same key.",
            )
        if self.learner is None:
            raise InputError(
                "the release knows of no way to publish new rows.", hint="take one that anonymize returned."
            )
        if "learned" not in self._cache:
            self._cache["learned"] = self.learner.learn_from(self)
        learned: NextBatch = self._cache["learned"]
        return learned

    def apply(
        self,
        rows: RowsT,
        *,
        together: bool = False,
        previous: Sequence[object] = (),
        distinct_persons: bool = False,
        key: bytes | None = None,
        session: Any = None,
    ) -> Release[RowsT]:
        """Publish new rows by the cells of this release.

        Parameters
        ----------
        rows : path, dataframe, lazy frame or Table
            With the columns that the input has, wherever these rows are.
        together : bool
            Publish the earlier rows again with the new ones, and judge them as one: only for a release that
            replaces this one, and where nobody has this one. Else the new rows are judged by themselves, because
            whoever holds this release could subtract it.
        previous : sequence of path, dataframe, Table or Release
            Further batches that were published by the same cells. Where persons are counted, those who are in the new
            batch and in this release or a previous batch are counted: `batch` tells how many, and with how many of
            them fewer than k share all their cells.
        distinct_persons : bool
            Leave out the records of these persons.
        key : bytes, optional
            The secret of pseudonyms; the same as before when not given.
        session : DuckDB connection or SparkSession, optional
            Of lazy rows.

        Returns
        -------
        Release
            A class that fails is published by wider cells, those of a cut above. A row that no cell covers is
            suppressed, and so is a class that fails at every cut: `batch` counts both.

        Raises
        ------
        ColumnError
            The columns are not those of the source, or of other kinds.
        InfeasibleError
            No class is left.
        InputError
            Rows that are not in memory are to be judged together with others.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "pay": [1, 2, 3, 4]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
        >>> later = release.apply(pl.DataFrame({"age": [33, 32, 56], "pay": [5, 6, 7]}))
        >>> later.frame.rows(), later.batch.n_failed
        ([('[31, 34]', 5), ('[31, 34]', 6)], 1)
        """
        if together and self.origin is not None:
            raise InputError("earlier rows that are not in memory are not judged again.", hint="leave together out.")
        earlier = self.source if together else None
        # What was not in memory before is not read into it now.
        engine: Final = "stream" if self.origin is not None and isinstance(rows, (str, Path)) else "auto"
        check_type(previous, (list, tuple), "previous", "a list: previous=[...]")
        before = (self, *previous) if self.person is not None and not together else previous
        release: Release = self.learned.apply(
            rows,
            earlier=earlier,
            previous=before,
            distinct_persons=distinct_persons,
            key=key,
            engine=engine,
            session=session,
        )
        return release

    def save_recoding(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the cells and where rows go to a file, for `hushtable.Recoding.read` and ``hushtable apply``.

        Parameters
        ----------
        path : path
        overwrite : bool
            Replace a file of this name.

        Raises
        ------
        InputError
            A cell comes from the data, and neither from a grid nor from the file of a hierarchy: which column's.
        """
        self.learned.save(path, overwrite=overwrite)

    def with_exposure(
        self, limit: ExposureLimit, *, accepted: Mapping[str, str] | None = None, is_enforced: bool = False
    ) -> Release[FrameT]:
        """Return the release and its alternatives with the exposure of the columns that are kept as they are.

        Parameters
        ----------
        limit : ExposureLimit
        accepted : mapping of column to str, optional
            Columns that are told of only, and why.
        is_enforced : bool
            Whether `write` refuses a release above the limit.

        Raises
        ------
        InputError
            Columns of rows that are not in memory have more distinct rows together than can be held.
        ExposureError
            Pseudonyms of such rows repeat, and nobody said that they are persons: whom their records find cannot be
            counted.

        Notes
        -----
        Rows that are not in memory are counted by the distinct rows of all columns; where these are too many, by hashes
        on the disk, one column or pair after the other. Within the classes nothing is counted where too many rows have
        persons, or Spark holds them: `Exposure.told_to` is 0 then.
        """
        exposure = measure_kept_columns(self, limit, accepted, is_enforced=is_enforced)
        others = (each.with_exposure(limit, accepted=accepted, is_enforced=is_enforced) for each in self.alternatives)
        return replace(self, exposure=exposure, alternatives=tuple(others))

    def linkage(self) -> Linkage | None:
        """Count whom several records find; None where no published column links records, or nobody has several.

        What links is the person's column, and every column of keyed pseudonyms: equal cells have equal ones. Of several
        it is the one that finds most.
        """
        return measure_release_linkage(self.counted)

    def with_bound(self, budget: Budget | None = None) -> Release[FrameT]:
        """Return the release with a proven floor under its loss (``trace.bound``, ``trace.gap``) and its certificate.

        The lower bound is that of k-anonymity with the largest class that a model asks for, on the values themselves.
        Further models only make a release lose more. See `hushtable.quality.bound.ncp_bound`.

        Parameters
        ----------
        budget : Budget, optional
            Without one a single pass, seconds for 20,000 rows.

        Raises
        ------
        InputError
            No floor is known: the loss is not the set-NCP by values with equal weights, a column publishes something
            else than intervals of values or sets of categories (what nodes and round cells lose is counted in leaves
            and cells), or no model asks for classes of k records.

        Notes
        -----
        A suppressed record costs 1 in every column, so no price is above the number of columns: the floor holds with
        suppression and without. One that was known is kept where it is higher, and so is its certificate.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
        >>> release.with_bound().trace.gap
        0.0
        """
        self._check_distinct("a floor under the loss")
        is_set_ncp = abs(self.loss - self.quality.set_ncp) <= TOLERANCE
        floor = release_bound(self.source, self.claim, self.recoding, is_set_ncp=is_set_ncp, budget=budget)
        value = min(self.loss, max(floor.value, self.trace.bound or 0.0))
        gap = 0.0 if value >= self.loss else (self.loss - value) / self.loss
        trace = replace(self.trace, bound=value, gap=gap, optimal=self.trace.optimal or gap == 0.0)
        return replace(self, trace=trace, certificate=self.certificate or floor.certificate)

    def attack(self, earlier: Any = None, *, person: str | None = None, seed: int = 0) -> OwnAttacks:
        """Attack the release with all that its publisher knows, and say what to change.

        Homogeneity: classes that agree on a sensitive column. Ends: somebody has the value at which an interval begins
        or ends; an attacker who knows the method can infer it. Linked records: persons who are found by several of
        them. Cuts not made: what a class that a model of sensitive values kept from being cut reveals of these values.
        With an earlier release that shares many people, it finds the sensitive values that both leave of a person. It
        finds those who joined or left since, too, by subtracting classes.

        Parameters
        ----------
        earlier : Release, path or dataframe, optional
            With the same quasi-identifiers; of a file or frame cells are read as this release writes them.
        person : str, optional
            The column of both sources that says who is in both: only with it is known how often intersections and
            differences are right. The person of the claim, where both sources have it, when not given.
        seed : int
            Of what is drawn. Numbers of witnesses are drawn by the operating system, anew in every run.

        Returns
        -------
        OwnAttacks
            For insiders: it counts what the release gives away. `OwnAttacks.to_dict` has a form for outsiders.

        Raises
        ------
        InputError
            The earlier release has no class, or what its cells stand for cannot be told. Of rows that are not in
            memory: there are more than 5,000,000 records, or their distinct rows are not known.
        ColumnError
            It lacks a quasi-identifier, or a source the person.
        VerificationError
            The earlier file is not the one that its manifest describes.

        Notes
        -----
        Machanavajjhala et al. (2007) for homogeneity, Ganta, Kasiviswanathan and Smith (2008) for the intersection of
        releases, Wong, Fu, Wang and Pei (2007) and Cohen (2022) for what the method gives away. Each attack is tried
        as stated; that one finds nothing does not show that no better one would.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "ill": ["flu", "flu", "gout", "mumps"]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], sensitive=["ill"])
        >>> release.attack().fell
        ('homogeneity', 'ends')
        """
        # What few callers ask for is not loaded with every release.
        from hushtable.risk import attack_release

        self._check_distinct("an attack")
        n_records, own = self.source.n_records, self.person
        if self.origin is not None and n_records > MOST_ATTACKED:
            raise InputError(
                f"attacks look at records one by one, at most {MOST_ATTACKED:,}, and there are {n_records:,}.",
                hint="attack the release of a part of them.",
            )
        attacked = self.counted
        before = earlier.distinct if isinstance(earlier, Release) else earlier
        manifest.claim_of(before)  # a file that is not the one of its manifest is refused, as by the command
        knows = own is not None and isinstance(before, Release) and own in before.source.names
        attacks = attack_release(
            attacked,
            before,
            k=getattr(self.claim, "k", 2),
            linkage=measure_release_linkage(attacked) if attacked.exposure is None else attacked.exposure.linkage,
            linking=linking_columns(attacked),
            person=own if person is None and knows else person,
            seed=seed,
        )
        return attacks if self.learner is None else self.learner.attack_cuts(self, attacks, seed=seed)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw in classes of what size the records are, before and after; return the matplotlib axes.

        It shows how many people are alone in the original: internal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "sex": ["f", "f", "m", "m"]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
        >>> release.plot().get_title(loc="left").replace(chr(10), " ")
        '100 % of records were alone; now the smallest class holds 2'
        """
        from hushtable.plots import charts
        from hushtable.risk import size_bands

        self._check_distinct("a chart of the classes before")
        table = encode_table(self.source.frame(), list(self.quasi_identifiers), self.claim.specs)
        before = Counter(Partition.from_table(table, self.quasi_identifiers).sizes.tolist())
        after = Counter(self.partition.sizes.tolist())
        if self.n_suppressed and not self.drops_suppressed:
            after[self.n_suppressed] += 1
        bands, counted = size_bands(before, after)
        n = max(1, table.n_records)
        shares = {
            name: [each / n for each in counts] for name, counts in zip(("before", "after"), counted, strict=True)
        }
        alone, least = before.get(1, 0) / n, min(after, default=0)
        title = f"{100 * alone:.0f} % of records were alone; now the smallest class holds {least:,}"
        return charts.class_sizes(bands, shares, title=title, ax=ax)

    def plot_search(self, *, ax: Any = None) -> Any:
        """Draw how the search went, best loss and proven bound; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            The method keeps no history: Mondrian, or a table solved at once.
        """
        from hushtable.plots import charts

        history = self.trace.effort.history if self.trace.effort is not None else ()
        if not history:
            raise InputError("the search kept no history to draw.", hint="MinGen of many rows and Genetic keep one.")
        steps, bounds, losses = (
            np.array([np.nan if x is None else x for x in each]) for each in zip(*history, strict=True)
        )
        # Histories without a bound count generations, the others seconds.
        label = "seconds" if np.isfinite(bounds).any() else "generation"
        return charts.convergence(steps, bounds, losses, label=label, ax=ax)

    def utility(
        self,
        target: str | None = None,
        *,
        held_out: float = 0.3,
        model: str | None = None,
        weights: str | None = None,
        seed: int = 0,
    ) -> Utility:
        """Measure what can still be learned from the release, beside the original.

        Of rows that are not in memory, figures are of the columns that were judged. Every published cell stands for its
        values equally: see `hushtable.quality.cell_values`.

        Parameters
        ----------
        target : str, optional
            A column to predict by gradient boosting, trained on the release and on the original; needs the extra
            ``sklearn``.
        held_out : float
            The share of the rows, drawn at random, that the models are tested on and neither is trained on.
        model : str, optional
            A regression, ``"log(income) ~ education + age + sex"``, fitted on the release and on the original; needs
            the extra ``regression``. See `hushtable.quality.regression`.
        weights : str, optional
            Its column of survey weights.
        seed : int
            Of the draw, of the models and of the cells that a regression draws.

        Raises
        ------
        ColumnError
            There is no such target.
        InputError
            What the cells of the target stand for cannot be told, there are too few rows to learn from or to test on,
            a regression cannot be read or fitted, or what it needs is not installed. Of rows that are not in memory: a
            target or a model was asked for, or their distinct rows are not known.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57, 31], "job": ["clerk", "cook", "clerk", "clerk", "clerk"]})
        >>> found = ht.anonymize(people, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)]).utility()
        >>> round(found.column("age").distance, 3), found.column("job").untold_rate
        (0.031, 0.6)
        """
        # What few callers ask for is not loaded with every release.
        from hushtable.quality import RegressionModel, SampledRows, measure_utility, regress, with_all_columns

        if self.origin is not None:
            self._check_distinct("utility")
            _check_no_models(target=target, model=model)
            return with_all_columns(self.counted.utility(), self.columns)
        regression = RegressionModel.from_options(model, weights)
        removed = np.repeat(self.suppressed & self.drops_suppressed, self.source.records)
        original, released = self.source.frame(), replace(self.edition, bounds=()).frame()
        if target is not None or regression is not None:
            # Models learn from rows, of which each is a record.
            original, released = original.with_row_per_record(), released.with_row_per_record()
        pseudonyms = self.pseudonymized
        measured = measure_utility(
            original,
            released,
            self.claim,
            pseudonyms=pseudonyms,
            target=target,
            rows=SampledRows(np.flatnonzero(~removed), held_out),
            seed=seed,
        )
        if regression is None:
            return measured
        # Cells of an earlier release say nothing of the records that were given them.
        style = None if self.batch else self.recoding.style
        fitted = regress(original, released, self.claim, regression, pseudonyms=pseudonyms, recoding=style, seed=seed)
        return replace(measured, regression=fitted)

    def verify(self) -> Verdict:
        """Judge the protected table anew, from its published cells alone.

        An engine groups them itself. Of files it is what is published of the distinct rows; `write` judges what was
        written of all records.
        """
        if self.origin is None or not self.origin.groups_by_itself:
            distinct = self.distinct
            return distinct.claim.verify(distinct.edition.frame(), original=distinct.compared_with)
        persons = (self.person,) if self.person in self.columns else ()
        names = (*self.claim.columns, *self.claim.bound_columns, *self.claim.sensitive, *self.claim.rounded, *persons)
        counted = self.origin.collapse(tuple(dict.fromkeys(names)), self.cells)
        return self.claim.verify(counted, original=self.compared_with)

    def write(
        self,
        path: str | Path,
        *,
        keep_order: bool = False,
        external: bool = False,
        policy: Mapping[str, Any] | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        formulas: Formulas | None = None,
        codebook: bool = True,
        overwrite: bool = False,
        by: str | None = None,
        bounds: bool = False,
    ) -> Verdict:
        """Write the protected table, its manifest and its codebook, whole and verified or not at all.

        The draft is read back and verified before it gets its name.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside it.
        keep_order : bool
            Keep the order of the rows. Else they are shuffled with the operating
            system's randomness, because an order can identify people. Refused where ``person`` or
            ``household`` was given.
        external : bool
            Write the manifest that goes with a published file.
        policy : mapping, optional
            What was asked for, for the internal manifest.
        encoding : str, optional
            Of a CSV: the policy's, or UTF-8.
        decimal : {".", ","}, optional
            Of a CSV: the mark of numbers in quasi-identifiers, and of what a dataframe holds as floats. The
            policy's, or a point. Other columns of a CSV stay as they came.
        formulas : {"keep", "escape", "refuse"}, optional
            Of a CSV: what becomes of cells and names that a spreadsheet would run. The policy's, or kept.
        codebook : bool
            Write beside it what its columns and labels mean, to be read and as JSON; see `hushtable.release.codebook`.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.
        by : str, optional
            A published column whose cells name the folders of a Hive data set (``region=N/part-00000.parquet``), at
            most 500: ``path`` names a folder, in which the manifest lies. The policy's ``write: {by: ...}``
            when not given. All folders are verified together.
        bounds : bool
            Write beside the cells of numbers, dates and times the smallest and the largest value that each admits, as
            `with_bounds` does; also where the policy says ``write: {bounds: true}``.

        Raises
        ------
        ExposureError
            The columns that are kept as they are name people, or single out more of them than the policy allows;
            nothing is written.
        VerificationError
            The written table does not hold what the release claims; nothing is left behind.
        InputError
            The file cannot be written, or must not be.
        """
        release = self.with_bounds() if bounds and not self.claim.bounds else self
        release._check_before_writing()
        if keep_order and release.timelines is not None:
            raise_if_dates_are_ordered()
        path, by, language = Path(path), by if by is not None else release.writing.by, release.writing.language
        to = Destination(
            path,
            sidecars=release.codebook.texts(path, external=external, language=language) if codebook else {},
            writing=replace(
                release.writing,
                encoding=encoding or release.writing.encoding,
                decimal=decimal or release.writing.decimal,
                formulas=formulas or release.writing.formulas,
                by=by,
            ),
            keep_order=keep_order,
            external=external,
            overwrite=overwrite,
            inputs=release.inputs,
        )
        content: Content
        if release.origin is None:
            content = TableContent(release.edition, release.claim, release.compared_with)
        else:
            cells = release._publish_cells(_PARQUET_PART if is_folder(path) else path)
            content = ReleaseContent(release, release.origin, cells)
        # Loaded where a release is written: few lines of its own, and what it takes from the system.
        from hushtable.release.provenance import describe_provenance

        provenance = {} if external else {"provenance": describe_provenance(release)}
        return write(content, to, {**release.to_dict(), **provenance, "policy": dict(policy) if policy else None})

    def with_bounds(self) -> Release[FrameT]:
        """Return the release with the bounds of cells as columns: ``age_from`` and ``age_to`` beside ``age``.

        Every quasi-identifier of numbers, dates or times has them, unless its labels are those of a hierarchy of your
        own. They follow from the published cells alone, and have the type of the values; times of a day are text.
        `verify` judges them. They are empty where a cell is open on that side (``<20``), ``*`` or missing.

        Of whole numbers and dates both bounds belong to the cell: ``[17, 25)`` and ``[17, 24]`` are 17 and 24. Of
        decimals, moments and times ``_to`` is a limit, which a value may not reach: ``[1.5, 2.5)`` is 1.5 and 2.5.

        Raises
        ------
        InputError
            No column has bounds, or cells are central values.
        ColumnError
            A column of bounds would have the name of another column.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "pay": [1, 2, 3, 4]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
        >>> release.with_bounds().frame.rows()
        [('[31, 34]', 31, 34, 1), ('[31, 34]', 31, 34, 2), ('[52, 57]', 52, 57, 3), ('[52, 57]', 52, 57, 4)]
        """
        # What few callers ask for is not loaded with every release.
        from hushtable.release.bounds import release_with_bounds

        return release_with_bounds(self)

    def mapping(self) -> AppliedMapping:
        """Return which value became which cell, column by column: for those who keep the input.

        No pair is listed that fewer people have than a class holds. InputError where records that are not in memory
        were cut one by one: which values each cell has is not kept.
        """
        from hushtable.release.mapping import mapping_of

        self._check_distinct("a mapping")
        return mapping_of(self.distinct)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the release as plain values, none of them a person's.

        Classes are counted as they are published: those that publish the same cells are one.
        """
        sizes, n_suppressed = self._count_class_sizes(), self.n_suppressed
        quality = replace(
            self.quality,
            discernibility=discernibility(sizes, n_suppressed),
            average_class_size=average_class_size(sizes),
            n_classes=len(sizes),
        )
        return {
            "n_records": self.partition.n_records + n_suppressed,
            "n_suppressed": n_suppressed,
            "n_classes": len(sizes),
            "smallest_class": int(sizes.min()),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            **self._describe_kept_columns(),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
            "models": [model_to_dict(model) for model in self.models],
            "recoding": self.recoding.style,
            "language": self.writing.language,
            **(self.batch.to_dict() if self.batch else {}),
            "loss": self.loss,
            "quality": quality.to_dict(),
            **({} if self.blanks is None else {"blanks": self.blanks.to_dict()}),
            "trace": self.trace.to_dict(),
            **({} if self.origin is None else {"engine": self.engine}),
            **({} if self.timelines is None else {"timelines": self.timelines.to_dict()}),
        }

    def _describe_kept_columns(self) -> dict[str, Any]:
        """Return what a manifest says of the columns that are removed, pseudonymized or kept as they are."""
        exposure, keyed = self.exposure, self.pseudonyms.keyed if self.pseudonyms else ()
        limit = exposure.limit if exposure and exposure.is_enforced else None
        return {
            "removed": list(self.removed),
            "pseudonymized": list(keyed),
            "fresh": list(self.fresh),
            "accepted": list(exposure.accepted) if exposure else [],
            "exposure": exposure.to_dict() if exposure else None,
            **({manifest.EXPOSURE_LIMIT: {"columns": limit.columns, "rate": limit.rate}} if limit else {}),
        }

    def classes(self) -> Any:
        """Return a row for every class, as a dataframe of the kind that went in (polars for a path or a Table).

        Returns
        -------
        dataframe
            A column for each quasi-identifier with the cell that the class publishes; ``n_records``; ``loss``, the
            mean share of a column that its cells publish, in [0, 1] (set-NCP). Classes that publish the same
            cells are one. Smallest classes first; suppressed records are in none.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": [31, 34, 52, 57, 58], "sex": ["f", "f", "m", "m", "m"]})
        >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
        >>> release.classes().rows()
        [('[31, 34]', 'f', 2, 0.05555555555555555), ('[52, 58]', 'm', 3, 0.1111111111111111)]
        """
        published = self.recoding.number_combinations()[:-1]
        used, first, inverse = np.unique(published, return_index=True, return_inverse=True)
        sizes = np.bincount(inverse, weights=self.partition.sizes, minlength=len(used)).astype(np.int64)
        order = first[np.argsort(sizes, kind="stable")]
        columns: dict[str, list[Any]] = {}
        for name in self.quasi_identifiers:
            label_of_class, labels = self.recoding.format_labels(name)
            columns[name] = [labels[label] for label in label_of_class[order].tolist()]
        lost: FloatArray = self.recoding.shares().mean(axis=0)
        for name, figures_ in (("n_records", np.sort(sizes, kind="stable")), ("loss", lost[order])):
            columns[name if name not in columns else f"class_{name}"] = figures_.tolist()
        return frames.assemble(columns, frames.library_of(self.source))

    def count_blank_records(self) -> tuple[int, int]:
        """Count the records that publish ``*`` in every quasi-identifier or are suppressed, and all that may be seen.

        Records of persons who are in previous batches, and left out for it, are in neither.
        """
        is_star = [
            np.array([label == SUPPRESSED for label in labels], dtype=bool)[of_class]
            for of_class, labels in map(self.recoding.format_labels, self.quasi_identifiers)
        ]
        n_suppressed = self.n_suppressed - (self.batch.n_left_out if self.batch else 0)
        in_classes = int(self.partition.sizes[np.all(is_star, axis=0)].sum())
        return in_classes + n_suppressed, self.partition.n_records + n_suppressed

    @property
    def facts(self) -> tuple[str, ...]:
        """What is published, whom it protects from whom, what it cost and what speaks against it.

        The release is verified first. If its rows are not in memory, only the distinct ones are, without the engine.
        """
        if "verdict" not in self._cache:
            self._cache["verdict"] = self.distinct.verify()
        return describe_release(self.claim, self._cache["verdict"], self.columns, self.to_dict())

    def _table(self) -> list[tuple[str, str]]:
        lost = self.quality.by_column
        return [("column", "loss (set-NCP)"), *((name, f"{share:.4f}") for name, share in lost.items())]

    @property
    def compared_with(self) -> Frame | None:
        """The input, or its distinct rows, where the claim compares with it."""
        return self.source.frame() if self.claim.needs_original(self.columns) else None

    def _check_before_writing(self) -> None:
        """Refuse a release whose kept columns find people, and warn of intervals that begin with somebody's value."""
        if self.exposure is not None:
            self.exposure.raise_if_unpublishable()
        if self.recoding.style == "tight" and any(isinstance(cell, PublishedIntervals) for cell in self.recoding.cells):
            warnings.warn(
                "tight intervals begin and end with values that somebody has: for readers who must not learn them, "
                'take recoding="readable" or "cut".',
                stacklevel=3,
            )

    def _check_distinct(self, what: str) -> None:
        """Raise InputError where the distinct rows are not known: what takes them."""
        if self.is_row_by_row:
            raise InputError(
                f"{what} takes the distinct rows; these hardly repeat, so that the records were cut one by one.",
                hint="ask it of the release of a part of the files that fits, or take engine='memory'.",
            )

    def _count_class_sizes(self) -> CountArray:
        """Count the records of every distinct combination of published cells."""
        classes = self.recoding.number_combinations()[:-1]
        # Counts are whole numbers far below 2^53, so that bincount's floats are exact.
        sizes = np.bincount(classes, weights=self.partition.sizes).astype(np.int64)
        return sizes[sizes > 0]

    def rewritten(self, name: str) -> Rewritten:
        """Return what a quasi-identifier publishes."""
        label_of_class, labels = self.recoding.format_labels(name)
        # The entry behind the classes is that of suppressed records, whose label is -1.
        codes: CodeArray = np.append(label_of_class, np.int32(len(labels))).astype(np.int32)[self.partition.labels]
        kind = next(column.kind for column in self.recoding.columns if column.name == name)
        is_value = self.recoding.style == "central" and kind not in ("ordered", "category")
        return Rewritten(codes, (*labels, SUPPRESSED), kind, is_value)


RemoteRelease = Release
"""The same: a name from when a table that is not in memory had a release of its own kind."""


def _check_no_models(**asked: str | None) -> None:
    """Raise InputError where a model was asked of rows that are not in memory."""
    for name, value in asked.items():
        if value is not None:
            raise InputError(
                f"{name} = {value!r} learns from records one by one, which takes the rows in memory.",
                hint="leave it out; or write one file, and pass it with its original to hushtable utility.",
            )


def _is_of_data(meaning: Any) -> bool:
    """Tell whether labels mean groups or sets that were made from the data: no rule and no list of anyone's."""
    return isinstance(meaning, Hierarchy) and (meaning.rule is None or isinstance(meaning.rule, NamedSets))
