"""The server: the Model Context Protocol over a pair of pipes, with a transcript of every line.

The only file that knows the SDK. Lines are tapped where bytes become text and back, so that the transcript holds what
the client sent and got, malformed lines too. One call of a tool works at a time, in a thread that a cancelled request
stops.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import count
from threading import Event
from typing import BinaryIO, Final, TypeAlias

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from hushtable.assistant.page_door import PageState
from hushtable.assistant.plain_values import Json
from hushtable.assistant.session import AssistantSession
from hushtable.assistant.tools import INSTRUCTIONS, TOOLS
from hushtable.page import StoppedError

PROGRESS_TEXT: Final = "working"
"""What a client is told every few seconds while a tool works: nothing of how far it is."""

_PROGRESS_SECONDS: Final = 5.0


Context: TypeAlias = ServerRequestContext[dict[str, Json]]


@dataclass(slots=True, eq=False)
class _Calls:
    """Calls of tools, one at a time, each with a number and with what a person had decided before it."""

    session: AssistantSession
    read_state: Callable[[int], PageState]
    tell_cancelled: Callable[[str, str], None]
    pad_seconds: float
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call; a cancelled one stops its work and is not answered."""
        stop, was = Event(), "waiting"
        try:
            async with self.turn:
                was = "begun"
                text = await self._answer(context, params, stop)
        except anyio.get_cancelled_exc_class():
            # Nothing is sent then: the transcript alone says what became of it.
            stop.set()
            self.tell_cancelled(json.dumps(context.request_id), was)
            raise
        return CallToolResult(content=[TextContent(type="text", text=text)])

    async def _answer(self, context: Context, params: CallToolRequestParams, stop: Event) -> str:
        def work() -> str:
            # Within the turn: calls have their numbers and their states in the order in which they work.
            read_state = partial(self.read_state, next(self.numbers))
            return format_answer(
                self.session.answer(params.name, params.arguments or {}, _progress_until(stop), read_state)
            )

        begun_at = anyio.current_time()
        async with anyio.create_task_group() as group:
            group.start_soon(_tell_progress, context)
            text = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            group.cancel_scope.cancel()
        spent = anyio.current_time() - begun_at
        if self.pad_seconds:
            await anyio.sleep(self.pad_seconds - spent % self.pad_seconds)
        return text


async def _tell_progress(context: Context) -> None:
    for number in count(1):
        await anyio.sleep(_PROGRESS_SECONDS)
        await context.session.report_progress(number, None, PROGRESS_TEXT)


def build_server(
    session: AssistantSession,
    read_state: Callable[[int], PageState],
    tell_cancelled: Callable[[str, str], None] = lambda request, was: None,
    *,
    pad_seconds: float = 1.0,
) -> Server[dict[str, Json]]:
    """Build the server of a session.

    Parameters
    ----------
    session : AssistantSession
    read_state : callable
        Takes the number of a call, and returns what a person has decided before it.
    tell_cancelled : callable
        Takes the id of a call that was cancelled, as JSON, and whether it was ``"waiting"`` or had ``"begun"``.
    pad_seconds : float
        Answers are sent at whole multiples of so many seconds, so that clocks tell less; 0 for at once.
    """

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_describe_tool(name) for name in TOOLS])

    return Server(
        "hushtable",
        version=version("hushtable"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=_Calls(session, read_state, tell_cancelled, pad_seconds).call_tool,
    )


def format_answer(answer: Mapping[str, Json]) -> str:
    """Return an answer as the text that is sent: the same bytes for the same answer."""
    return json.dumps(answer, ensure_ascii=True, separators=(",", ":"))


def _progress_until(stop: Event) -> Callable[[float], None]:
    def check(_: float) -> None:
        if stop.is_set():
            raise StoppedError

    return check


def _describe_tool(name: str) -> Tool:
    tool = TOOLS[name]
    annotations = ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.is_read_only,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=annotations,
    )


class TappedInput:
    """Lines from a client, each told before it is read.

    Parameters
    ----------
    pipe : binary file
    tell : callable
        Takes the text of a line, without its end.
    """

    def __init__(self, pipe: BinaryIO, tell: Callable[[str], None]) -> None:
        self._pipe = pipe
        self._tell = tell

    def readline(self) -> str:
        """Return the next line; empty at the end. Bytes that are no UTF-8 stay as half surrogates."""
        raw = self._pipe.readline()
        text = raw.decode("utf-8", errors="surrogateescape")
        if raw:
            self._tell(text.removesuffix("\n"))
        return text

    def __next__(self) -> str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class TappedOutput:
    """Lines to a client, each told before it is sent."""

    def __init__(self, pipe: BinaryIO, tell: Callable[[str], None]) -> None:
        self._pipe = pipe
        self._tell = tell

    def write(self, text: str) -> int:
        """Send a line."""
        self._tell(text.removesuffix("\n"))
        return self._pipe.write(text.encode("utf-8", errors="surrogateescape"))

    def flush(self) -> None:
        """Send what is held back."""
        self._pipe.flush()


def serve(server: Server[dict[str, Json]], incoming: Json, outgoing: Json) -> None:
    """Serve one client until its pipe ends.

    Parameters
    ----------
    server : Server
    incoming, outgoing : TappedInput and TappedOutput, or what is alike
    """

    async def run() -> None:
        async with stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)
