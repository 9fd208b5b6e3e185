"""What a session keeps is what the model was told: whole, in order, nothing twice, however often it is resumed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import defaultdict, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from bundled_agent.playing import answer, shell, task, tool
from tenterhook import Engine
from tenterhook.basics.model_script import AGENT, SUMMARY, ModelScript, turn_of
from tenterhook.bundled_agent import session_files, session_record
from tenterhook.bundled_agent.conversation import Conversation
from tenterhook.bundled_agent.screen import Screen
from tenterhook.bundled_agent.scripted import PydanticScriptedModel
from tenterhook.bundled_agent.settings import AgentSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic_ai.messages import ModelMessage

    from bundled_agent.playing import Play
    from tenterhook import Event

pytestmark = pytest.mark.slow

NEVER = 60.0  # seconds


# ------------------------------------------------------------------ any sequence of what can happen in a session


class Call(NamedTuple):
    """A call in a turn: what hooks say before and after it, what else happens until the next request."""

    before: str | None = None
    after: str | None = None
    is_notified: bool = False  # a background task ends meanwhile
    compacts: str | None = None  # the context is too long now, and this is how the compaction goes
    compact_context: str | None = None


class Turn(NamedTuple):
    """A prompt, and what comes of it."""

    prompt: str = "go"
    context: str | None = None
    calls: tuple[Call, ...] = ()
    ends: str = "answered"
    last_context: str | None = None  # of the stop, or of the call in which it is interrupted
    is_notified: bool = False  # a background task ends while the turn does

    @property
    def plain(self) -> Turn:
        """The same without compactions: no answer follows the long one, and the next request would compact anew."""
        return self._replace(calls=tuple(call._replace(compacts=None) for call in self.calls))


class Compact(NamedTuple):
    how: str
    context: str | None = None


class Notified(NamedTuple):
    """A background task ends between two turns."""

    wakes: bool


class Resume(NamedTuple):
    context: str | None = None
    was_killed: bool = False


Step = Turn | Compact | Notified | Resume
# Hooks often say the same each time, and what looks like markup or an escape stays what it is.
texts = st.sampled_from([None, None, "the same", 'a "quoted"\nline \\ ü', "<b>&amp;</b>"])
compactions = st.sampled_from(["allow", "deny", "fail"])
calls = st.builds(Call, texts, texts, st.booleans(), st.none() | st.none() | compactions, texts)
ends = st.sampled_from(
    [
        *("answered", "answered", "failed", "interrupted", "killed"),
        *("interrupted in a call", "interrupted in one of two calls"),
    ]
)
prompts = st.sampled_from(["go", "go on", "why?"])
steps = st.one_of(
    st.builds(Turn, prompts, texts, st.lists(calls, max_size=2).map(tuple), ends, texts, st.booleans()),
    st.builds(Compact, compactions, texts),
    st.builds(Notified, st.booleans()),
    st.builds(Resume, texts, st.booleans()),
)


class Answers(ModelScript):
    """The answers of a scripted model, given while it plays, and the requests it got."""

    def __init__(self) -> None:
        super().__init__([], "answers")
        self.requests: list[list[dict[str, Any]]] = []
        self.instructions = ""

    def add(self, who: str, **said: Any) -> None:
        self._left.append(turn_of(said, who))

    def log(self, request: Mapping[str, Any]) -> None:
        if request["who"] == AGENT:
            self.requests.append(request["messages"])
            self.instructions = request["instructions"]


class Played:
    """A session with hooks, played step by step, and beside it what the model must have been told by then."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        self.engine = Engine()
        self.says: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for event in ("pre-agent-turn", "pre-tool-call", "post-tool-call", "pre-agent-turn-stop"):
            self.engine.on(event)(self._hook)
        self.engine.on("pre-session")(self._hook)
        self.engine.on("pre-context-compact")(self._hook)
        self.model = Answers()
        self.numbers = 0
        self.told: list[tuple[str, str]] = []  # by role
        self.waiting: list[str] = []  # contexts for the next request
        self.notifications: list[str] = []
        self.session_context: list[str] = []
        self.conversation = self._opened(None)

    def _opened(self, resume: str | None) -> Conversation:
        screen, limits = Screen(lambda _: None, lambda _: None), AgentSettings(mode="yolo", compact_above=10_000)
        model = PydanticScriptedModel(self.model)
        return Conversation(self.engine, model, limits, screen, work_dir=str(self.root), resume=resume)

    async def _hook(self, event: Event) -> dict[str, Any] | None:
        said = self.says[event.canonical].popleft() if self.says[event.canonical] else {}
        if said.pop("notified", False):
            await self._notify()
        return said

    async def _notify(self) -> None:
        self.numbers += 1
        source = f"task_{self.numbers}"
        await self.conversation.notify("task.completed", "worker", f"found {self.numbers}", source)

    def _notified(self, more: int = 1) -> str:
        number = self.numbers + more
        about = f'type="task.completed" source="task_{number}" title="worker"'
        return f"<notification {about}>found {number}</notification>"

    def _hears(self, event: str, context: str | None, **more: Any) -> list[str]:
        """Have the hook of an event say something, once; this is what the model gets of it."""
        self.says[event].append({**more, "additional_context": context} if context else more)
        return [f'<hook_context event="{event}">{context}</hook_context>'] if context else []

    # What is done, and what the model must have heard after it

    async def begin(self, context: str | None) -> None:
        self.session_context = self._hears("pre-session", context)
        await self.conversation.begin()

    async def resume(self, context: str | None = None) -> None:
        self.conversation = self._opened(self.conversation.id)
        await self.begin(context)

    async def step(self, step: Step) -> None:
        if isinstance(step, Turn):
            await self.turn(step)
        elif isinstance(step, Compact):
            await self._compact(step)
        elif isinstance(step, Notified):
            self.notifications.append(self._notified())
            await self._notify()
            if step.wakes:
                await self._wake()
        else:
            if not step.was_killed:
                await self.conversation.finish()
            await self.resume(step.context)

    async def turn(self, turn: Turn) -> None:
        turn = turn if turn.ends == "answered" else turn.plain
        self._request([turn.prompt, *self._hears("pre-agent-turn", turn.context)])
        notified = 0
        for number, call in enumerate(turn.calls):
            notified += call.is_notified
            self._call(number, call, self._notified(notified))
        sent = list(self.told)
        requests = len(self.model.requests) + len(turn.calls) + 1
        begun = self.root / f"begun{requests}"
        self._last(turn, begun, self._notified(notified + 1))
        running = asyncio.create_task(self.conversation.turn(turn.prompt))
        if turn.ends in ("answered", "failed"):
            outcome = (await running).outcome
            assert outcome == ("success" if turn.ends == "answered" else "failed")
        else:
            await self._interrupt(running, self._is_there(turn, requests, begun), killed=turn.ends == "killed")
        assert shown(self.model.requests[-1]) == sent

    def _request(self, texts: list[str]) -> None:
        """A request of the model holds this, and what has waited for one."""
        self.told += [("user", text) for text in (*texts, *self.waiting, *self.notifications)]
        self.waiting.clear()
        self.notifications.clear()

    def _call(self, number: int, call: Call, notified: str) -> None:
        """A call, its result, and the request that holds it."""
        tokens = {"tokens": {"input": 20_000}} if call.compacts else {}
        self.model.add(AGENT, calls=[shell(f"echo {number}")], **tokens)
        last = [("assistant", ""), ("tool", str(number))]
        contexts = self._hears("pre-tool-call", call.before)
        contexts += self._hears("post-tool-call", call.after, notified=call.is_notified)
        last += [("user", text) for text in contexts]
        self.told += last
        if call.compacts:
            self._compacted(call.compacts, self._hears_compact(call.compacts, call.compact_context), last)
        if call.is_notified:
            self.told.append(("user", notified))

    def _last(self, turn: Turn, begun: Path, notified: str) -> None:
        """How the turn ends."""
        if turn.ends == "answered":
            self.model.add(AGENT, text="done")
            self.told.append(("assistant", "done"))
            self.waiting += self._hears("pre-agent-turn-stop", turn.last_context, notified=turn.is_notified)
            self.notifications += [notified] if turn.is_notified else []
        elif turn.ends.startswith("interrupted in"):
            beside = [shell("echo beside")] if turn.ends.endswith("two calls") else []
            self.model.add(AGENT, calls=[*beside, shell(f"touch {begun}; exec sleep {NEVER}")])
            self.told += [("assistant", ""), *(("tool", "beside") for _ in beside), ("tool", "Interrupted")]
            self.waiting += self._hears("pre-tool-call", turn.last_context)
            self.waiting += self._hears("post-tool-call", turn.last_context) if beside else []
        elif turn.ends == "failed":
            self.model.add(AGENT, error={"status": 500})
        else:
            self.model.add(AGENT, text="never", delay=NEVER)

    def _is_there(self, turn: Turn, requests: int, begun: Path) -> Callable[[], bool]:
        """Whether a turn has come to where it is interrupted."""
        if turn.ends in ("interrupted", "killed"):
            return lambda: len(self.model.requests) == requests
        over = self._over() + len(turn.calls) + turn.ends.endswith("two calls")
        return lambda: begun.exists() and self._over() == over

    def _over(self) -> int:
        """The calls that hooks have seen the end of."""
        counts = self.conversation.tally.counts.items()
        return sum(count.runs for (_, event, _), count in counts if event == "post-tool-call")

    async def _interrupt(self, turn: asyncio.Task[Any], is_there: Callable[[], bool], *, killed: bool) -> None:
        polls = 0
        while polls < 10:  # so that what is over has come to where it belongs
            assert not turn.done(), turn.result()
            polls += is_there()
            await asyncio.sleep(0.001)
        file = Path(self.conversation.record.path)
        kept = file.read_bytes()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        if killed:
            file.write_bytes(kept)  # without what a process writes that can still do something
            await self.resume()

    async def _compact(self, step: Compact) -> None:
        if self.told:  # there is something that a summary replaces
            self._compacted(step.how, self._hears_compact(step.how, step.context), None)
        assert await self.conversation.compact() == (step.how == "allow" and bool(self.told))

    def _hears_compact(self, how: str, context: str | None) -> list[str]:
        if how != "deny":
            self.model.add(SUMMARY, **({"text": "much"} if how == "allow" else {"error": {"status": 500}}))
        refusal = {"decision": "deny", "reason": "not now"} if how == "deny" else {}
        return self._hears("pre-context-compact", context, **refusal)

    def _compacted(self, how: str, context: list[str], last: list[tuple[str, str]] | None) -> None:
        """What the model knows then; `last` is what it has not answered yet, None between two turns."""
        if how == "allow":
            summary = "<summary>\nmuch\n</summary>\nThis is what happened in the session so far."
            self.told = [("user", summary), *(last or ())]
        if how == "allow" or last is not None:
            self.told += [("user", text) for text in context]
        else:
            self.waiting += context

    async def _wake(self) -> None:
        """The turn that notifications start; no hook on prompts hears of it."""
        text = "\n".join(self.conversation.take_notifications())
        self.notifications = []
        self._request([text])
        self.model.add(AGENT, text="noted")
        await self.conversation.turn(text, origin="notification")
        assert shown(self.model.requests[-1]) == self.told
        self.told.append(("assistant", "noted"))


def shown(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """A request in short."""
    return [
        (message["role"], "Interrupted" if message["content"].startswith("Interrupted") else message["content"])
        for message in messages
    ]


async def played(root: str, sequence: list[Step]) -> None:
    session = Played(root)
    await session.begin("the first rule")
    for step in sequence:
        await session.step(step)
    await session.resume("the last rule")
    await session.turn(Turn("what was all that?"))
    assert session.model.instructions.count("<hook_context") == 1
    assert session.session_context[0] in session.model.instructions
    await session.conversation.finish()


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Each time another directory to play in, with the state of nobody else."""

    def root() -> str:
        made = tempfile.mkdtemp(dir=tmp_path)
        monkeypatch.setenv("XDG_STATE_HOME", os.path.join(made, "state"))
        return made

    yield root


@given(sequence=st.lists(steps, min_size=1, max_size=6))
@example(sequence=[Turn(context="C"), Resume(), Turn("second", "C"), Resume(), Turn("third", "C")])
@example(sequence=[Turn(ends="interrupted in a call", last_context="the same"), Turn(ends="killed"), Turn(context="C")])
@settings(
    max_examples=50,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_happens_in_a_session_the_model_is_told_all_of_it_in_order_and_once(
    roots: Callable[[], str], sequence: list[Step]
) -> None:
    """any sequence of prompts, contexts, calls, notifications, interruptions and resumes reaches the model whole"""
    asyncio.run(asyncio.wait_for(played(roots(), sequence), 60))


# ------------------------------------------------------------------ the file


FIRST = ModelRequest(parts=[UserPromptPart("first")])
CALLED = ModelResponse(
    parts=[ToolCallPart("Shell", {"command": "true"}, "call_1"), ToolCallPart("Shell", {}, "call_2")]
)
RESULT = ModelRequest(parts=[ToolReturnPart("Shell", "done", "call_1")])
CONTEXT = ModelRequest(parts=[UserPromptPart("context")])


def read(session_id: str = "session_1") -> list[ModelMessage]:
    return session_record.history(session_files.read(session_id))


def texts_of(messages: list[ModelMessage]) -> list[str]:
    return [str(getattr(part, "content", part)) for message in messages for part in message.parts]


def test_what_is_merged_is_not_written_again_and_what_is_added_is() -> None:
    written = session_record.SessionRecord("session_1", pytest.fail)
    answer_ = ModelResponse(parts=[TextPart("One.")])
    written.write_new([FIRST, CONTEXT])
    written.write_new([ModelRequest(parts=[*FIRST.parts, *CONTEXT.parts]), answer_])  # shorter, and yet longer
    second = ModelRequest(parts=[UserPromptPart("second")])
    written.write_new([ModelRequest(parts=[*FIRST.parts, *CONTEXT.parts]), answer_, second])
    assert texts_of(read()) == ["first", "context", "One.", "second"]
    assert [entry["type"] for entry in session_files.read("session_1")] == ["message"] * 4


def test_a_result_that_comes_after_context_is_added() -> None:
    """pydantic-ai puts results before whatever else a request holds."""
    written = session_record.SessionRecord("session_1", pytest.fail)
    calls: list[ModelMessage] = [FIRST, ModelResponse(parts=CALLED.parts[:1])]
    written.write_new([*calls, CONTEXT])
    written.write_new([*calls, ModelRequest(parts=[*RESULT.parts, *CONTEXT.parts])])
    assert [entry["type"] for entry in session_files.read("session_1")] == ["message"] * 4
    assert sorted(texts_of(read())[2:]) == ["context", "done"]


def test_a_history_that_has_changed_is_written_anew() -> None:
    written = session_record.SessionRecord("session_1", pytest.fail)
    written.write_new([FIRST, ModelResponse(parts=[TextPart("One.")])])
    written.write_new([FIRST, ModelResponse(parts=[TextPart("Another.")]), CONTEXT])
    assert texts_of(read()) == ["first", "Another.", "context"]


def test_of_parallel_calls_the_one_that_was_over_keeps_its_result_after_a_resume() -> None:
    whole = session_record.repaired([FIRST, CALLED, RESULT])
    assert [text[:11] for text in texts_of(whole[2:])] == ["done", "Interrupted"]
    assert session_record.repaired(whole) == whole
    assert session_record.repaired([FIRST, CALLED, whole[3], RESULT, CONTEXT]) == [
        FIRST,
        CALLED,
        whole[3],
        RESULT,
        CONTEXT,
    ]


def test_a_text_that_was_told_before_is_told_again_if_it_waits_again() -> None:
    """Hooks say the same each time; what a request held before it was said is not it."""
    waits = {"type": "context", "text": 'a "quoted" text'}
    sent = {"type": "message", "message": {"kind": "request", "parts": [{"content": 'a "quoted" text'}]}}
    assert session_record.unsent_texts([waits, sent], "context") == []
    assert session_record.unsent_texts([waits, sent, waits], "context") == ['a "quoted" text']
    assert session_record.unsent_texts([waits, sent, waits], "notification") == []


def test_a_prompt_with_context_is_there_after_any_number_of_resumes(play: Play) -> None:
    """Each in a process of its own, also after a turn in which a background task has notified."""
    play.hook("folder pre-agent-turn", answer(additional_context="C"))
    play.run([task("worker", background=True)], "One.", "Noted.", prompt="first", tasks={"worker": ["worked"]})
    for prompt in ("second", "third"):
        play.run([tool("Glob", pattern="*")], "More.", prompt=prompt, options=["--resume"])
    last = play.run("Done.", prompt="fourth", options=["--resume"]).last
    said = [text for text in last.users if not text.startswith("<notification")]
    context = '<hook_context event="pre-agent-turn">C</hook_context>'
    assert said == ["first", context, "second", context, "third", context, "fourth", context]
