"""The command: arguments to verbs to exit codes; no arithmetic.

Exit codes: 0 done, 1 the answer is no, 2 wrong input or arguments, 3 infeasible, 70 a fault of ours or the end of
memory or disk, above 128 a signal. Each error has a kind, a word for programs.
Figures, names and positions are printed, never a cell of the data unless asked; of small releases by minimal
generalization also the published table.
What is no error of the package is told in one line: which it is, and what to do.
"""

from __future__ import annotations

import atexit
import errno
import functools
import gc
import importlib
import inspect
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from hushtable.cli.groups import GroupedCommand, GroupedCommands, flatten_groups
from hushtable.cli.joblog import open_log, record, record_end
from hushtable.cli.terminal import begin_output, print_error, print_json, print_json_if_none, print_to_stderr
from hushtable.errors import HushError, InputError
from hushtable.io import check_secrets, is_full
from hushtable.wording import LANGUAGES, current_language, set_language, translate, use_language

__all__ = ["FAULT", "build_app", "command", "fault_line", "main"]


FAULT: Final = 70
"""The exit code of a fault of ours, and of the end of memory or disk: `EX_SOFTWARE` of sysexits."""

_LANGUAGE: Final = "--language"
_PACKAGE: Final = Path(__file__).resolve().parent.parent
_FULL_DISK_SIGNS: Final = ("(os error 27)", "(os error 28)", "(os error 122)", "No space left on device")
_NO_MEMORY_SIGNS: Final = (
    "(os error 12)",
    "Cannot allocate memory",
    "memory allocation",
    "Out of Memory",
    "out of memory",
)


def fault_line(error: BaseException) -> str:
    """Say in one line what ended the command, and what to do.

    An error's own text may hold a cell of the data: only its type and its place are told.
    """
    chain = _chain_of(error)
    if any(_is_memory(each) for each in chain):
        return (
            "memory came to its end; give it fewer rows or columns, a folder or --engine stream (anonymize), "
            "or a machine with more."
        )
    if any(_is_disk(each) for each in chain):
        return "the disk came to its end; make room where files are written and in the folder of temporary files."
    if (library := _broken_library(chain)) == "":
        return (
            "a library cannot be loaded: it is missing or broken. This is no fault of your data. Run it again with "
            "--traceback, which shows where, and install that library anew."
        )
    if library is not None:
        return (
            f"the library {library!r} cannot be loaded: it is missing or broken. This is no fault of your data; "
            f"install it anew (pip install --force-reinstall {library})."
        )
    return (
        f"a fault of hushtable: {type(error).__name__} at {_locate_fault(error)}; run it again with --traceback, and "
        "report what that shows, without values of your data."
    )


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return any(sign in str(error) for sign in _NO_MEMORY_SIGNS)


def _is_disk(error: BaseException) -> bool:
    return (isinstance(error, OSError) and is_full(error)) or any(sign in str(error) for sign in _FULL_DISK_SIGNS)


def _locate_fault(error: BaseException) -> str:
    """Return the last line of the package that an error came through."""
    locations = [
        f"{path.relative_to(_PACKAGE)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(_PACKAGE)
    ]
    return locations[-1] if locations else "an unknown place"


_EXIT_CODES: Final = (
    "Exit codes: 0 done, 1 the answer is no, 2 wrong input or arguments, 3 infeasible. "
    "70: a fault of hushtable, or memory or disk is full."
)
_TRACEBACK: Final = "--traceback"
_LOG: Final = "--log"
_USAGE: Final = 2
_SIGNALS: Final = 128  # an exit code above is 128 and the number of a signal
# By group of the help, those that most people need first; of each command its module and function, and three examples:
# the usual one, the option that most people ask for, and one for scripts. Many name files that `hushtable demo` writes.
_GROUPS: Final = {
    "Start here": {
        "demo.demo": (
            "hushtable demo",
            "hushtable demo my_folder",
            "hushtable demo my_folder --force",
        ),
        "open.open_": (
            "hushtable open",
            "hushtable open people.csv -p policy.yaml",
            "hushtable open people.csv --no-browser --port 8765",
        ),
        "scan.scan": (
            "hushtable scan people.csv",
            "hushtable scan people.csv -p policy.yaml",
            "hushtable scan people.csv --fail-above rate=0.05",
        ),
        "compare.compare": (
            "hushtable compare people.csv -p policy.yaml",
            "hushtable compare people.csv -p policy.yaml --k 3,5,11 --plot risk.svg",
            "hushtable compare people.csv -p policy.yaml --advise",
        ),
        "protect.anonymize": (
            "hushtable anonymize people.csv -p policy.yaml -o release.csv",
            "hushtable anonymize survey.csv --qi age,sex,region --k 5 -o coarse.csv",
            "hushtable anonymize people.csv -p policy.yaml -o night.csv --if-exists skip",
        ),
        "protect.verify": (
            "hushtable verify release.csv",
            "hushtable verify release.csv -p policy.yaml --strict",
            "hushtable verify release.csv -p policy.yaml --no-manifest",
        ),
        "report.report": (
            "hushtable report release.csv -o report.html",
            "hushtable report release.csv --original people.csv -o internal.html",
            "hushtable report release.csv --external -o public.html",
        ),
    },
    "After a release": {
        "utility.utility": (
            "hushtable utility people.csv release.csv",
            "hushtable utility people.csv release.csv --target income --held-out rest.csv",
            "hushtable utility people.csv release.csv --json",
        ),
        "batches.apply": (
            "hushtable apply recoding.json new.csv -o new_release.csv",
            "hushtable apply recoding.json new.csv -o out.csv --together survey.csv",
            "hushtable apply recoding.json new.csv -o out.csv --fail-above suppressed=0.1",
        ),
        "formats.codebook": (
            "hushtable codebook release.csv",
            "hushtable codebook release.csv --as csvw",
            "hushtable codebook release.csv -o study.xml --force",
        ),
    },
    "Measure who can be found": {
        "assess.assess": (
            "hushtable assess people.csv --qi birth_date,sex,postcode",
            "hushtable assess people.csv -p policy.yaml --population-size 500000",
            "hushtable assess people.csv -p policy.yaml --tolerance ema-0070",
        ),
        "risks.uniques": (
            "hushtable uniques people.csv --columns birth_date,sex,postcode",
            "hushtable uniques people.csv --max-size 2 --details uniques.csv",
            "hushtable uniques people.csv --max-size 2 --fail-above rate=0.05",
        ),
        "keys.keys": (
            "hushtable keys people.csv",
            "hushtable keys people.csv --max-size 2 --error 0.01",
            "hushtable keys people.csv --max-size 2 --fail-above count=0",
        ),
        "attackers.unicity": (
            "hushtable unicity trips.csv --person id --item stop",
            "hushtable unicity trips.csv --person id --item stop --tolerance day=3D",
            "hushtable unicity trips.csv --person id --item stop --fail-above rate=0.1",
        ),
        "discover.scores": (
            "hushtable scores people.csv --columns birth_date,sex,postcode",
            "hushtable scores people.csv --columns sex --columns sex,postcode",
            "hushtable scores people.csv --columns sex,postcode --target income --json",
        ),
        "discover.select": (
            "hushtable select people.csv",
            "hushtable select people.csv --method greedy --seconds 10",
            "hushtable select people.csv --columns sex,postcode,income --json",
        ),
    },
    "Attack a release or a synthetic table": {
        "attackers.attack_release": (
            "hushtable attack-release release.csv",
            "hushtable attack-release release.csv --original people.csv --earlier old.csv",
            "hushtable attack-release release.csv --fail-above count=0",
        ),
        "attackers.link": (
            "hushtable link release.csv voters.csv --on sex,postcode",
            "hushtable link release.csv voters.csv --on sex,postcode --control others.csv",
            "hushtable link release.csv voters.csv --on sex,postcode --fail-above count=0",
        ),
        "attackers.join_risk": (
            "hushtable join-risk jan.csv feb.csv --on sex,postcode",
            "hushtable join-risk jan.csv feb.csv --on sex,postcode --truth id",
            "hushtable join-risk jan.csv feb.csv --on sex,postcode --fail-above rate=0.01",
        ),
        "risks.mpuccs": (
            "hushtable mpuccs original.csv synthetic.csv --control control.csv",
            "hushtable mpuccs original.csv synthetic.csv --sizes 1,2 --report found.html",
            "hushtable mpuccs original.csv synthetic.csv --fail-above rate=0.1",
        ),
        "attackers.attack": (
            "hushtable attack original.csv synthetic.csv --control control.csv",
            "hushtable attack original.csv synthetic.csv --secret diagnosis",
            "hushtable attack original.csv synthetic.csv --fail-above singling-out=0.1",
        ),
    },
    "Publish tables, or records with changed values": {
        "tabulating.tables": (
            "hushtable tables people.csv --by sex,education -o table.csv",
            "hushtable tables people.csv --by sex,education --by occupation -o tables.csv",
            "hushtable tables people.csv --by sex,education --round 5 -o rounded.csv",
        ),
        "check.check": (
            "hushtable check table.csv",
            "hushtable check table.csv --by sex,education --value n --threshold 10",
            "hushtable check table.csv --certificate proof.json --json",
        ),
        "perturb.perturb": (
            "hushtable perturb survey.csv --columns age,pay -o out.csv",
            "hushtable perturb survey.csv --columns age,pay --set k=10 -o out.csv",
            "hushtable perturb survey.csv --columns region --method pram -o out.csv",
        ),
        "masking.mask_dependence": (
            "hushtable mask-dependence pay.csv --a sex --b pay --clusters 5 -o out.csv",
            "hushtable mask-dependence pay.csv --a sex,age --b pay --clusters 9 -o o.csv",
            "hushtable mask-dependence - --a sex --b pay --clusters 5 -o out.csv --json",
        ),
    },
    "Whole experiments, assistants, files, and setup": {
        "assist.assist": (
            "hushtable assist people.csv --one-record",
            "hushtable assist people.csv --one-record --names none -p policy.yaml",
            "hushtable assist --skill skills",
        ),
        "run.run": (
            "hushtable run pipeline.yaml",
            "hushtable run pipeline.yaml --dry-run",
            "hushtable run pipeline.yaml --out results --fresh",
        ),
        "formats.convert": (
            "hushtable convert project.deid -o project",
            "hushtable convert regions.hrc -o hierarchies",
            "hushtable convert table.tab -o tables --force",
        ),
        "formats.schema": (
            "hushtable schema policy",
            "hushtable schema policy -o policy.schema.json",
            "hushtable schema pipeline -o pipeline.schema.json --force",
        ),
        "warm_up.warm_up": (
            "hushtable warm-up",
            "hushtable warm-up --for anonymize",
            "hushtable warm-up --for anonymize,mpuccs",
        ),
    },
}
_EXAMPLES: Final = {place: example for group in _GROUPS.values() for place, example in group.items()}
_HEADINGS: Final = {place: heading for heading, group in _GROUPS.items() for place in group}
_FIRST_STEPS: Final = (
    "hushtable scan people.csv -p policy.yaml",
    "hushtable anonymize people.csv -p policy.yaml -o release.csv",
    "hushtable verify release.csv",
)
_PLACES: Final = {place.partition(".")[2].strip("_").replace("_", "-"): place for place in _EXAMPLES}


def build_app(*wanted: str) -> typer.Typer:
    """Return the command with some verbs, or with all. Modules of other verbs are not loaded: loading takes a while."""
    app = typer.Typer(
        name="hushtable",
        cls=GroupedCommands,
        help=_help_of_all(),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(flatten_groups(_root))
    for name in wanted or _PLACES:
        module, _, function = _PLACES[name].partition(".")
        verb = getattr(importlib.import_module(f"hushtable.cli.{module}"), function)
        place = _PLACES[name]
        shown = f"{_help_of(verb)}\n\n{_lines_of_help(translate('Examples:'), _EXAMPLES[place])}"
        heading = translate(_HEADINGS[place])
        add = app.command(name, cls=GroupedCommand, epilog=translate(_EXIT_CODES), help=shown, rich_help_panel=heading)
        add(flatten_groups(verb))
    return app


def _help_of_all() -> str:
    """Say what the command is for, the three lines that most jobs need, and where others are."""
    purpose = translate("Find what identifies people in a table, hide it with the least loss, prove it.")
    steps = _lines_of_help(translate("Three commands make most releases:"), _FIRST_STEPS)
    more = translate("The --help of each command has three examples. Many use the files of `hushtable demo`.")
    return f"{purpose}\n\n{steps}\n\n{more}"


def _lines_of_help(title: str, examples: Sequence[str]) -> str:
    # The help joins lines of a paragraph unless it begins with this sign.
    return "\n".join(["\b", title, *examples])


def _help_of(verb: Callable[..., None]) -> str:
    paragraphs = (inspect.getdoc(verb) or "").split("\n\n")
    return "\n\n".join(translate(" ".join(each.split())) for each in paragraphs)


def command() -> NoReturn:
    """Run the command as its own process, with the settings that only a process of its own may change."""
    # BLAS would start threads in every process, which spin: nothing here gets faster by them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Compile for any processor: no kernel gains from special instructions, and the cache serves other machines.
    os.environ.setdefault("NUMBA_CPU_NAME", "generic")
    # Loading modules makes hundreds of thousands of objects that stay: searching them for garbage again and again takes
    # a tenth of a small job.
    gc.set_threshold(100_000)
    try:
        # A process that only calls `main` keeps its own handling of signals.
        with _exit_on_signals():
            main()
        code: object = 0
    except SystemExit as ended:
        code = ended.code
    _leave_at_once(code)


def _leave_at_once(code: object) -> NoReturn:
    """End the process without tearing down what the system takes back anyway, after everything is flushed.

    Where something may still be under way, the interpreter ends as it always does.
    """
    is_alone = all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if is_alone and (code is None or isinstance(code, int)):
        with suppress(OSError, ValueError, AttributeError):
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)
    sys.exit(code)  # type: ignore[arg-type]  # whatever it was


def main() -> None:
    """Run the command; every error becomes one message and its exit code."""
    # A second call starts with the language of the environment again, not with the one chosen here.
    with use_language(current_language()), begin_output():
        _run()


def _run() -> None:
    arguments, is_traced = _without_traceback(sys.argv[1:])
    arguments, log = _take_option(arguments, _LOG)
    path = None if log is None else Path(log)
    verb = arguments[0] if arguments and arguments[0] in _PLACES else ""
    try:
        with open_log(path, command=verb, version=_version() if log else "", process=os.getpid()):
            _run_and_record(arguments, is_traced=is_traced)
    except InputError as error:
        # The log itself cannot be written.
        _tell_error(error, arguments)
        sys.exit(error.exit_code)


def _version() -> str:
    from importlib import metadata

    return metadata.version("hushtable")


def _run_and_record(arguments: list[str], *, is_traced: bool) -> None:
    """Run a verb; every error becomes one message, JSON where that was asked for, and its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = partial(_print_warning, set())
            # Before the arguments are parsed: the parser's messages quote them.
            check_secrets(arguments)
            arguments = _choose_language(arguments)
            _build_command(current_language(), *(name for name in arguments[:1] if name in _PLACES))(arguments)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
        if code == _USAGE:
            _tell_end(arguments, "usage", code, "The arguments are not understood; the standard error says which.")
        elif code > _SIGNALS:
            _tell_end(arguments, "ended", code, "The process was asked to end; nothing was left half written.")
        record_end(code)
        raise
    except KeyboardInterrupt:
        record_end(_SIGNALS + signal.SIGINT, kind="ended")
        raise
    # Some libraries' panics are no Exception.
    except BaseException as error:
        if is_traced:
            print_to_stderr(*"".join(traceback.format_exception(error)).rstrip("\n").split("\n"))
        code = error.exit_code if isinstance(error, HushError) else FAULT
        _tell_error(error, arguments)
        record_end(code, kind=_kind_of(error))
        sys.exit(code)


def _tell_error(error: BaseException, arguments: Sequence[str]) -> None:
    """Print an error, and as JSON too where that was asked for."""
    code = error.exit_code if isinstance(error, HushError) else FAULT
    message, hint = (error.message, error.hint) if isinstance(error, HushError) else (fault_line(error), "")
    _tell_end(arguments, _kind_of(error), code, message, hint=hint, error=type(error).__name__)
    print_error(error if isinstance(error, HushError) else message)


def _tell_end(arguments: Sequence[str], kind: str, code: int, message: str, *, hint: str = "", error: str = "") -> None:
    record("error", kind=kind, exit_code=code, message=message, hint=hint)
    if "--json" in arguments:
        # Whoever read the output may have gone.
        with suppress(typer.Exit):
            print_json_if_none(
                {"passed": False, "error": error, "kind": kind, "exit_code": code, "message": message, "hint": hint}
            )


def _kind_of(error: BaseException) -> str:
    """Return the word for an error that programs may rely on."""
    if isinstance(error, HushError):
        return error.kind
    chain = _chain_of(error)
    if any(map(_is_memory, chain)):
        return "memory"
    if any(map(_is_disk, chain)):
        return "disk"
    return "fault" if _broken_library(chain) is None else "library"


def _chain_of(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None and before not in chain:
        chain.append(before)
    return chain


def _broken_library(chain: Sequence[BaseException]) -> str | None:
    """Return the name of a library that cannot be loaded, "" if nothing says it; None if none is broken."""
    for error in chain:
        if isinstance(error, ImportError):
            name = (error.name or "").partition(".")[0]
            return None if name == "hushtable" else name
    return None


@functools.cache
def _build_command(language: str, *wanted: str) -> Callable[[Sequence[str]], None]:
    """Return the command with its help in a language."""
    with use_language(language):
        return typer.main.get_command(build_app(*wanted))


def _without_traceback(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without ``--traceback``, and whether it was among them."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [each for each in arguments[:end] if each != _TRACEBACK]
    return [*options, *arguments[end:]], len(options) < end


def _take_option(arguments: Sequence[str], option: str) -> tuple[list[str], str | None]:
    """Return the arguments without an option that stands before or after the verb, and its value."""
    for position, each in enumerate(arguments):
        name, is_one, value = each.partition("=")
        if each == "--":
            break
        if name == option and (is_one or position + 1 < len(arguments)):
            rest = arguments[position + (1 if is_one else 2) :]
            return [*arguments[:position], *rest], value if is_one else arguments[position + 1]
    return [*arguments], None


def _choose_language(arguments: list[str]) -> list[str]:
    """Set the language that ``--language`` asks for, and return the remaining arguments."""
    rest, language = _take_option(arguments, _LANGUAGE)
    if language is None:
        return arguments
    set_language(language)
    # The --language of `anonymize` is that of words in cells, also where messages have no translation.
    if arguments[:1] == ["anonymize"]:
        return arguments
    if language not in LANGUAGES:
        raise InputError(f"--language {language!r}.", hint=f"choose among {', '.join(LANGUAGES)}.")
    return rest


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Leave by an exception when the process is asked to end, so that drafts of files are removed."""
    # Windows has no terminal that hangs up.
    asking = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {each: signal.signal(each, _exit_on_signal) for each in asking if signal.getsignal(each) != signal.SIG_IGN}
    try:
        yield
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)


def _print_warning(told: set[str], message: Warning | str, *_: object, **__: object) -> None:
    # Who codes a column twice warns twice.
    if str(message) not in told:
        told.add(str(message))
        record("warning", kind=type(message).__name__, message=str(message))
        print_error(f"careful: {message}")


def _exit_on_signal(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="With --version: list the plug-ins of other packages too, as JSON.", hidden=True),
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option(_LOG, metavar="FILE", help="Append what happens to a file, as JSON lines."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            _LANGUAGE, metavar="|".join(LANGUAGES), help="Language of messages. Default: HUSHTABLE_LANGUAGE, or en."
        ),
    ] = None,
    traceback: Annotated[
        bool, typer.Option(_TRACEBACK, help="Show where an error comes from; may show cells.")
    ] = False,
) -> None:
    if version:
        from importlib import metadata

        if as_json:
            from hushtable.models import plugins

            print_json({"hushtable": metadata.version("hushtable"), "plugins": plugins.list_plugins()})
        else:
            typer.echo(metadata.version("hushtable"))
        raise typer.Exit
