"""What real agents do with the answers of hooks, observed through our own bridge as `tenterhook install` wires it.

    python tests/hosts/coverage.py [AGENT...]          run these, or all that are installed; print what was seen
    python tests/hosts/coverage.py [AGENT...] --write  also write it to coverage.json, docs/agents.md and README.md
    python tests/hosts/coverage.py --render            no runs: the tables of both pages from coverage.json

The agents are those of tests/hosts/agents.py. Each run has a home and a project of its own, HOOK.md folders as hooks
and a scripted model on loopback. A cell is what came of it; nothing is taken from documentation, nor from what our own
modules say an agent understands: where those differ from what was seen, it is printed, and a test fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if not __package__:
    sys.path[0] = str(Path(__file__).parents[1])  # run as a script: the tests' own modules are found from there

from hosts import agents
from hosts.coverage_tables import NOT_OBSERVED, TRIED, WATCHED, YES, agent_table, disagreements, tables, with_tables
from hosts.opencode_server import AskingOpencode
from hosts.real import ASKING_FLAGS
from support import folder_hook, user_hooks
from tenterhook.agents import AGENTS, headless
from tenterhook.agents.codex import Codex
from tenterhook.agents.protocol import DONE, MODES, PLAIN, PROMPT, RESUMED, SUBAGENT, Agent
from tenterhook.basics.model_script import ScriptedCall, Turn, mentions
from tenterhook.doctor.live import trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tenterhook.doctor.live.trial import Trial

Cells = dict[str, dict[str, dict[str, str]]]  # event, capability, mode: what was seen

SEEN = Path(__file__).with_name("coverage.json")
PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
README = Path(__file__).parents[2] / "README.md"
PROVEN = Path(__file__).parents[2] / "src" / "tenterhook" / "agents" / "proven.json"

_OF_THE_MAIN_AGENT = ("pre-session", "post-session", "pre-agent-turn", "pre-agent-turn-stop")
_HANG = 200  # seconds: no run takes as long, on a busy machine either, unless something waits that should not
_ASLEEP = 300  # seconds that a sleeping hook would take; it has one


# A command that fails is no failure of the tool to these: their call that reads a file, and what a missing one gives.
# The path is part of it: the input has the path too, and the errors of other calls the same words.
_READING: dict[str, tuple[str, dict[str, str], str]] = {
    "copilot": ("view", {}, "{} does not exist"),
    "opencode": ("read", {}, "File not found: {}"),
    "hermes": ("read_file", {}, "File not found: {}"),
    "vibe": ("read_file", {}, "File not found at: {}"),
    "openhands": ("file_editor", {"command": "view", "security_risk": "LOW"}, "{} does not exist"),
}


class Place(NamedTuple):
    """A home and a project for one run of one agent."""

    live: Agent
    executable: Path
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def records(self) -> Path:
        return self.folder / "records"

    def file(self, name: str) -> Path:
        return self.project / name

    def left(self, name: str) -> bool:
        """Whether a call, or a hook, has left a file of this name."""
        return self.file(name).exists()

    def shell(self, name: str) -> ScriptedCall:
        """A shell call that leaves a file and prints what is nowhere in its own text."""
        # a command that ends at once may lose its output in Qwen Code
        return self.live.shell_call(f"touch {self.file(name)}; printf '%s-%s' {name} 42; sleep 0.2")

    def hook(self, event: str, capability: str, script: str, pattern: str | None = None, **front: Any) -> None:
        if pattern:
            front["matcher"] = {"pattern": pattern}
        folder_hook(user_hooks(self.home), f"{capability}-{event}", script, event, **front)

    def sleeper(self, event: str, pattern: str | None = None, name: str = "timeout", **front: Any) -> None:
        """A hook that is ended by its own timeout."""
        begun, ended = (self.file(f"{name}-{event}-{what}") for what in ("begun", "ended"))
        script = f": >{begun}; sleep {_ASLEEP}; : >{ended}"
        self.hook(event, name, script, pattern, timeout=1000, priority=500, **front)  # before one that blocks

    def woken(self, event: str) -> str:
        """What came of a sleeping hook, the run having ended."""
        if not self.left(f"timeout-{event}-begun"):
            return f"{NOT_OBSERVED}: the hook was not run"
        return "no: it was waited for" if self.left(f"timeout-{event}-ended") else YES


class Seen(NamedTuple):
    """What came of one run."""

    place: Place
    mode: str
    came: Trial

    def told(self, text: str, *, below: bool | None = None) -> bool:
        """Whether a model was sent a text: the subagent's, the main agent's, or either."""
        return any(
            mentions(request.body, text)
            for request in self.came.requests
            if below is None or mentions(request.body, PROMPT) != below
        )

    def shown(self, text: str) -> bool:
        """Whether the person was."""
        return text in self.came.stdout or text in self.came.stderr

    def fired(self) -> dict[str, set[str]]:
        """The events that reached a hook, each with the agent's own names of it."""
        found: dict[str, set[str]] = {}
        counts: dict[str, int] = {}
        for event, native in self.place_records():
            found.setdefault(event, set()).add(native)
            counts[event] = counts.get(event, 0) + 1
        if self.mode == RESUMED:  # the first process has these, too
            return {event: natives for event, natives in found.items() if counts[event] > (event in _OF_THE_MAIN_AGENT)}
        return found

    def place_records(self) -> Iterator[tuple[str, str]]:
        for file in sorted(self.place.records.iterdir()):
            try:
                payload = json.loads(file.read_text())
            except ValueError:
                continue  # the hook was killed while it wrote
            yield file.name.partition(".")[0], str(payload["context"]["agent"]["event"])


def text(capability: str, event: str) -> str:
    """What a hook says there, and nothing else does."""
    return f"said for {capability} at {event}"


def says(**answer: Any) -> str:
    return f"cat <<'END'\n{json.dumps(answer)}\nEND"


def refuses(capability: str, event: str) -> str:
    return f'echo "{text(capability, event)}" >&2; exit 2'


class Hung(Exception):
    """A run that does not end: the agent's other results mean nothing until the cause is known."""


class Runs:
    """The runs of one agent, and the cells they fill."""

    def __init__(self, name: str, executable: Path, scratch: Path) -> None:
        self.name, self.live, self.executable, self.scratch = name, AGENTS[name], executable, scratch
        self.events = {meant for native in self.live.events for meant in self.live.meanings(native)}
        self.cells: Cells = {}
        self.natives: dict[str, set[str]] = {}
        self.number = 0

    def note(self, event: str, capability: str, mode: str, cell: str) -> None:
        self.cells.setdefault(event, {}).setdefault(capability, {})[mode] = cell

    def note_if_fired(self, seen: Seen, event: str, capability: str, cell: str) -> None:
        if event in self.events:
            self.note(event, capability, seen.mode, cell if event in seen.fired() else _DID_NOT_FIRE)

    def place(self, live: Agent | None = None) -> Place:
        """A place whose hooks record every event that the agent has."""
        self.number += 1
        place = Place(live or self.live, self.executable, self.scratch / f"{self.name}-{self.number}")
        for folder in (place.home, place.project / ".git", place.records):
            folder.mkdir(parents=True)
        for event in sorted({*self.events, "agent-event"}):
            script = f"cat >$(mktemp {place.records}/{event}.XXXXXX)"
            place.hook(event, "record", script, priority=1000)
        return place

    def run(
        self, place: Place, turns: Iterable[Turn], mode: str, extra: Mapping[str, str] | None = None, grace: float = 0
    ) -> Seen:
        """Install, run, and note which events fired."""
        environment = {"HOME": str(place.home), "PATH": os.environ["PATH"]}
        install = [sys.executable, "-m", "tenterhook", "install", self.name]
        subprocess.run(install, cwd=place.project, env=environment, check=True, capture_output=True)
        self.installed(place)
        shared = {"XDG_CACHE_HOME": str(agents.FOLDER / "unpacked")} if self.name == "copilot" else {}
        came = trial.run(
            place.live,
            self.executable,
            home=place.home,
            project=place.project,
            script=turns,
            mode=mode,
            timeout=_HANG,
            extra_env={**shared, **(extra or {})},
            grace=grace,
        )
        seen = Seen(place, mode, came)
        for event, natives in seen.fired().items():
            self.natives.setdefault(event, set()).update(natives)
            self.note(event, "fires", mode, YES)
        if came.timed_out:
            raise Hung(f"{self.name}, {mode}: not ended after {_HANG} s\n{came.stdout}{came.stderr}")
        return seen

    def installed(self, place: Place) -> None:
        """Tenterhook is installed there; the agent has not begun."""

    def all(self) -> Cells:
        for mode in MODES:
            if mode not in self.live.modes:
                continue
            self.tools(mode)
            if mode != SUBAGENT and "pre-agent-turn" in self.events:
                self.prompt(mode)
            if mode != SUBAGENT and "pre-session" in self.events:
                self.session(mode)
        self.subagent()
        self.compaction()
        self.failure()
        self.questions()
        return self.cells

    def tools(self, mode: str) -> None:
        """Every way to answer around a tool call, in one run; and what else can be heard meanwhile."""
        place = self.place()
        self.answer_before_and_after_calls(place)
        self.answer_around_turns(place)
        before = ("block", "modify", "context", "ask", "timeout", "closed")
        calls = [place.shell(f"call-{name}") for name in before]
        after = ("context", "block", "output", "timeout")
        calls += [place.shell(f"after-{name}") for name in after]
        failing = [self.failing(place, name) for name in after]
        changing = [[self.live.write_call(str(place.file("changed.py")), "x = 1\n")]] if self.name == "hermes" else []
        seen = self.run(place, self.script(mode, calls, failing, *changing), mode)  # else it asks no stop hook
        self.judge_calls(seen)
        self.judge_results(seen)
        self.judge_turns(seen)

    def answer_before_and_after_calls(self, place: Place) -> None:
        changed = {"command": f"touch {place.file('changed')}"}
        pre = "pre-tool-call"
        place.hook(pre, "block", refuses("block", pre), "call-block")
        place.hook(pre, "modify", says(modified_input=changed), "call-modify")
        place.hook(pre, "context", says(additional_context=text("context", pre)), "call-context")
        place.hook(pre, "ask", says(decision="ask", reason=text("ask", pre)), "call-ask")
        place.sleeper(pre, "call-timeout")
        place.sleeper(pre, "call-closed", "closed", metadata={"on_failure": "block"})
        for event in ("post-tool-call", "post-tool-call-failure"):
            place.hook(event, "context", says(additional_context=text("context", event)), "(after|failing)-context")
            place.hook(event, "block", refuses("block", event), "(after|failing)-block")
            place.hook(event, "output", says(modified_output=text("output", event)), "(after|failing)-output")
            place.sleeper(event, "(after|failing)-timeout")

    def answer_around_turns(self, place: Place) -> None:
        place.hook("pre-subagent", "context", says(additional_context=text("context", "pre-subagent")))
        # a resumed session has what its first process was told in its history
        answer = says(additional_context=text("context", "pre-agent-turn"))
        place.hook("pre-agent-turn", "context", f"grep -q '{PROMPT}' || exit 0\n{answer}")
        counted = place.file("sessions")
        place.hook(
            "pre-session",
            "context",
            f'echo >>{counted}; echo "{{\\"additional_context\\": \\"{text("context", "pre-session")}'
            f' $(wc -l <{counted} | tr -d " ")\\"}}"',
        )
        for event in ("pre-session", "pre-agent-turn", "pre-subagent", "pre-agent-turn-stop", "post-subagent"):
            place.sleeper(event)
        # once: each is told whether it has been sent back, except a subagent
        stop = "pre-agent-turn-stop"
        once = f"[ -e {place.file('after-block')} ] || exit 0; grep -q 'stop_hook_active\": *true' && exit 0; "
        place.hook(stop, "block", once + refuses("block", stop))
        once = f"mkdir {place.file('subagent-ended')} 2>/dev/null || exit 0; "
        place.hook("post-subagent", "block", once + refuses("block", "post-subagent"))

    def failing(self, place: Place, name: str) -> ScriptedCall:
        if self.name in _READING:
            tool, given, _ = _READING[self.name]
            key = self.live.input_keys.get("file_path", "path")
            return ScriptedCall(tool, {**given, key: str(place.file(f"failing-{name}"))})
        return self.live.shell_call(f"printf '%s-%s' failing-{name} 42; sleep 0.2; exit 3")

    def script(self, mode: str, *answers: list[ScriptedCall]) -> tuple[Turn, ...]:
        """Each list of calls in one answer of the model: of the subagent in that mode, else of the agent."""
        turns = [Turn(calls=tuple(calls)) for calls in answers]
        if mode == SUBAGENT:
            below = [turn._replace(unless=PROMPT) for turn in (*turns, self.live.subagent_end())]
            first = Turn(calls=(self.live.subagent_call(),), when=PROMPT)
            late = 5 if self.name == "hermes" else 0  # its subagents run in the background, and end with it
            return first, *below, Turn(text=DONE, when=PROMPT, last=True, delay=late)
        if mode == RESUMED:
            return Turn(text="Ready."), *(turn._replace(when=PROMPT) for turn in (*turns, Turn(text=DONE)))
        return *turns, Turn(text=DONE)

    def judge_calls(self, seen: Seen) -> None:
        place, mode, event = seen.place, seen.mode, "pre-tool-call"
        made = place.left("call-context")
        for capability, cell in (
            ("block", _refused(seen, "call-block", text("block", event))),
            ("modify", _modified(seen)),
            ("context", _heard(seen, event, "call-context-42")),
            ("ask", _asked(seen)),
            ("timeout", _timed_out(seen)),
        ):
            self.note(event, capability, mode, cell if made else f"{NOT_OBSERVED}: the calls were not made")
        if mode != PLAIN:
            self.note(event, "approve", mode, f"{NOT_OBSERVED}: everything is approved in this mode")

    def judge_results(self, seen: Seen) -> None:
        for event, call in (("post-tool-call", "after"), ("post-tool-call-failure", "failing")):
            if event not in self.events:
                continue
            for capability in ("block", "context", "output"):
                output = f"{call}-{capability}-42"
                if self.name in _READING and call == "failing":
                    output = _READING[self.name][2].format(seen.place.file(f"failing-{capability}"))
                judge = _replaced if capability == "output" else _heard
                self.note_if_fired(seen, event, capability, judge(seen, event, output, capability))
            self.note_if_fired(seen, event, "timeout", seen.place.woken(event))

    def judge_turns(self, seen: Seen) -> None:
        """The events around the calls: a session, a prompt, an end."""
        mode, place = seen.mode, seen.place
        if mode == SUBAGENT:
            begun, ended = "pre-subagent", "post-subagent"
            if begun in self.events:
                heard = seen.told(text("context", begun), below=True)
                self.note_if_fired(seen, begun, "context", YES if heard else _UNHEARD)
                self.note_if_fired(seen, begun, "timeout", place.woken(begun))
            if ended in self.events:
                heard = seen.told(text("block", ended), below=True)
                self.note_if_fired(seen, ended, "block", YES if heard else "no: the subagent ends")
                self.note_if_fired(seen, ended, "timeout", place.woken(ended))
            return
        session, prompt, stop = "pre-session", "pre-agent-turn", "pre-agent-turn-stop"
        heard = seen.told(f"{text('context', session)} {2 if mode == RESUMED else 1}")
        self.note_if_fired(seen, session, "context", YES if heard else _UNHEARD)
        heard = seen.told(text("context", prompt))
        self.note_if_fired(seen, prompt, "context", YES if heard else _UNHEARD)
        heard = seen.told(text("block", stop))
        unheard = _ENDS if self.name == "cline" else "no: the agent stops"
        self.note_if_fired(seen, stop, "block", YES if heard else unheard)
        for event in (session, prompt, stop):
            self.note_if_fired(seen, event, "timeout", place.woken(event))

    def prompt(self, mode: str) -> None:
        place, event = self.place(), "pre-agent-turn"
        place.hook(event, "block", f"grep -q '{PROMPT}' || exit 0; {refuses('block', event)}")
        seen = self.run(place, self.script(mode, [place.shell("call")]), mode)
        reached = seen.told(PROMPT)
        shown = seen.shown(text("block", event))
        cell = YES if shown else "yes, but the person is not shown why"
        self.note_if_fired(seen, event, "block", "no: the model is sent the prompt" if reached else cell)

    def session(self, mode: str) -> None:
        place, event = self.place(), "pre-session"
        counted, number = place.file("sessions"), 2 if mode == RESUMED else 1
        script = f"echo >>{counted}; [ $(wc -l <{counted}) -ge {number} ] || exit 0; {refuses('block', event)}"
        place.hook(event, "block", script)
        seen = self.run(place, self.script(mode, [place.shell("call")]), mode)
        if not seen.told(PROMPT):
            cell = YES if seen.shown(text("block", event)) else "yes, but the person is not shown why"
        else:
            cell = "no: the session starts" + (", the model is told why" if seen.told(text("block", event)) else "")
        self.note_if_fired(seen, event, "block", cell)

    def subagent(self) -> None:
        event = "pre-subagent"
        if event not in self.events or SUBAGENT not in self.live.modes:
            return
        place = self.place()
        place.hook(event, "block", refuses("block", event))
        seen = self.run(place, self.script(SUBAGENT, [place.shell("call")]), SUBAGENT)
        cell = "no: the subagent runs" + (", and is told why" if seen.told(text("block", event), below=True) else "")
        self.note_if_fired(seen, event, "block", cell if place.left("call") else YES)

    def compaction(self) -> None:
        """A conversation said to be long is made short; the model's summary then takes its place."""
        event = "pre-context-compact"
        if event not in self.events:
            return
        brought_about = False
        for capability in ("context", "block"):
            place = self.place()
            answer = says(additional_context=text("context", event))
            place.hook(event, capability, refuses("block", event) if capability == "block" else answer)
            if capability == "context":
                place.sleeper(event)
            mode, turns = self.long_conversation(place)
            seen = self.run(place, turns, mode, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"})
            bodies = [request.body for request in seen.came.requests]
            short = any(mentions(body, _SUMMED_UP) and not mentions(body, "early-42") for body in bodies)
            if capability == "context":
                brought_about = short
                cell = YES if seen.told(text("context", event)) else _UNHEARD
                self.note(event, "timeout", mode, place.woken(event))
            else:
                cell = "no: it is compacted" if short else YES
            self.note_if_fired(seen, event, capability, cell if brought_about else _NOT_BROUGHT_ABOUT)

    def long_conversation(self, place: Place) -> tuple[str, tuple[Turn, ...]]:
        """A script in which the model says that the conversation is too long, and the mode to run it in."""
        if self.name == "codex":
            settings = place.home / ".codex" / "config.toml"
            settings.parent.mkdir()
            settings.write_text("model_auto_compact_token_limit = 100000\nmodel_context_window = 200000\n")
        tokens = {"claude-code": 960_000, "qwen": 172_000, "gemini": 900_000}.get(self.name, 195_000)
        mode, first = PLAIN, Turn(calls=(place.shell("early"),))
        if self.name == "gemini":  # it shortens only what was before the last prompt
            mode, first = RESUMED, Turn(text=f"early-42 {' '.join(map(str, range(9000)))}")
        summary = Turn(text=f"<summary>{_SUMMED_UP}</summary><state_snapshot>{_SUMMED_UP}</state_snapshot>")
        if self.name == "pi":  # it does so at the next prompt, with what was before the last 20,000 tokens
            long = Turn(text=" ".join(map(str, range(30000))), tokens=195_000)
            return RESUMED, (summary._replace(speaker="summary", sticky=True), first, long, Turn(text=DONE))
        after: tuple[Turn, ...] = (summary,)  # some ask for it with tools; to the others it is the end
        if self.name == "copilot":  # it asks beside the conversation, which goes on meanwhile
            later = (Turn(calls=(place.shell(f"later-{number}"),), delay=1.5) for number in range(3))
            after = (summary._replace(when="respond only with the summary text"), *later)
        return mode, (
            summary._replace(speaker="summary", sticky=True),
            first,
            *(Turn(calls=(self.live.shell_call(f"seq 200{number}"),)) for number in range(3)),
            Turn(calls=(place.shell("last"),), tokens=tokens),
            *after,
            Turn(text=DONE),
        )

    def failure(self) -> None:
        """The model answers with an error."""
        self.run(self.place(), (Turn(status=400, text="scripted", sticky=True),), PLAIN)

    def questions(self) -> None:
        """Without the flags that allow tools beforehand: a call nobody speaks for, and others that hooks approve."""
        place = self.place(_asking(self.live))
        approve = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
        place.hook("pre-tool-call", "approve", says(hookSpecificOutput=approve), "call-approved")
        event = "permission-request"
        if event in self.events:
            place.hook(event, "approve", says(decision="allow"), "call-granted")
            place.hook(event, "block", says(decision="deny", reason=text("block", event)), "call-refused")
            place.sleeper(event, "call-slow")
        names = ("approved", "granted", "refused", "slow", "unspoken")
        turns = [Turn(calls=(place.shell(f"call-{name}"),)) for name in names]
        seen = self.run(place, (*turns, Turn(text=DONE)), PLAIN)
        if place.left("call-unspoken"):
            why = f"{NOT_OBSERVED}: run headless, it asks nobody"
        elif "pre-tool-call" not in seen.fired():
            why = f"{NOT_OBSERVED}: run headless, it refuses what it would ask about before any hook is run"
        else:
            why = ""
        approved = YES if place.left("call-approved") else "no: it is refused as before"
        self.note("pre-tool-call", "approve", PLAIN, why or approved)
        if event not in self.events:
            return
        if event not in seen.fired():
            why = why or _DID_NOT_FIRE
        granted = YES if place.left("call-granted") else "no: it is refused as before"
        self.note(event, "approve", PLAIN, why or granted)
        self.note(event, "block", PLAIN, why or _refused(seen, "call-refused", text("block", event)))
        self.note(event, "timeout", PLAIN, why or place.woken(event))


_SUMMED_UP = "the conversation so far, in short"
_DID_NOT_FIRE = f"{NOT_OBSERVED}: the event did not fire"
_NOT_BROUGHT_ABOUT = f"{NOT_OBSERVED}: no compaction could be brought about"
_UNHEARD = "no: the model does not see it"
_ENDS = f"{NOT_OBSERVED}: run headless, it ends with its answer"


class _AskingCodex(Codex):
    """Codex asks nobody when it is run headless, but its app server does: a client that says no to everything."""

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [sys.executable, __file__, _APP_SERVER, str(executable), prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        wanted = {"sandbox_permissions": "require_escalated", "justification": "scripted"}
        return ScriptedCall(self.shell_tool, {"cmd": command, **wanted})


_APP_SERVER = "--decline-in-app-server"


def decline_in_app_server(executable: str, prompt: str) -> int:
    """One turn of Codex's app server in which the client declines whatever it is asked."""
    with subprocess.Popen(
        [executable, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def send(**message: Any) -> None:
            print(json.dumps(message), file=server.stdin, flush=True)

        thread = {"cwd": os.getcwd(), "approvalPolicy": "on-request", "sandbox": "read-only"}
        send(id=1, method="initialize", params={"clientInfo": {"name": "tenterhook", "version": "0"}})
        for line in server.stdout:
            message = json.loads(line)
            if "method" in message and "id" in message:
                send(id=message["id"], result={"decision": "decline"})
            elif message.get("id") == 1:
                send(id=2, method="thread/start", params=thread)
            elif message.get("id") == 2:
                given = [{"type": "text", "text": prompt}]
                send(id=3, method="turn/start", params={"threadId": message["result"]["thread"]["id"], "input": given})
            elif message.get("method") == "turn/completed":
                break
        server.stdin.close()
        return server.wait()


def _asking(live: Agent) -> Agent:
    """The agent without the flags and rules that allow its tools beforehand."""
    if live.name == "codex":
        return _AskingCodex()
    if live.name == "opencode":
        return AskingOpencode()

    class Asking(type(live)):  # type: ignore[misc]  # the class is one of several
        def prepare(self, home: Path, url: str) -> None:
            super().prepare(home, url)
            for rules in (home / ".gemini" / "policies").glob("tenterhook-*"):
                rules.unlink()
            if self.toml:
                with headless.edited_toml(home / self.headless_settings) as settings:
                    headless.drop(settings, "tools")

        def command(self, *arguments: Any, **options: Any) -> list[str]:
            words = super().command(*arguments, **options)
            return [*(word for word in words if not word.startswith("--allow")), *ASKING_FLAGS.get(live.name, ())]

    agent: Agent = Asking()
    return agent


def _refused(seen: Seen, call: str, reason: str) -> str:
    if seen.place.left(call):
        return "no: the tool runs"
    return YES if seen.told(reason) else "yes, but the model is not told why"


def _modified(seen: Seen) -> str:
    if seen.place.left("call-modify"):
        return "no: the tool runs as it was"
    if seen.place.left("changed"):
        return YES
    told = seen.told(f"touch {seen.place.file('changed')}")
    return "no: denied, " + ("the model is told the input to use" if told else "the model is not told why")


def _heard(seen: Seen, event: str, output: str, capability: str = "context") -> str:
    if not seen.told(text(capability, event)):
        return _UNHEARD
    return YES if seen.told(output) else "yes, in place of the tool's output"


def _replaced(seen: Seen, event: str, output: str, capability: str) -> str:
    if seen.told(output):
        told = (
            "is told that a hook wanted it replaced" if seen.told("wanted to replace this output") else "sees it alone"
        )
        return f"no: the model sees the original and {told}"
    return YES if seen.told(text(capability, event)) else "no: the model sees neither"


def _asked(seen: Seen) -> str:
    if seen.place.left("call-ask"):
        return "no: the tool runs"
    told = seen.told(text("ask", "pre-tool-call"))
    if seen.told("has no way to do so"):
        return "no: denied, the model is told why"
    return "yes; nobody there to answer: denied" if told else "no: denied, the model is not told why"


def _timed_out(seen: Seen) -> str:
    """A hook that fails open is passed over when its time is up; one that fails closed refuses."""
    slept = seen.place.woken("pre-tool-call")
    if slept != YES:
        return slept
    if not seen.place.left("call-timeout"):
        return "no: the call is refused"
    return YES if not seen.place.left("call-closed") else "no: on_failure: block does not refuse the call"


def observe(name: str, executable: Path) -> dict[str, Any]:
    """One entry of coverage.json."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tenterhook-coverage-") as scratch:
        runs = Runs(name, executable, Path(scratch).resolve())
        cells = runs.all()
    print(f"{name}: {runs.number} runs in {time.monotonic() - begun:.0f} s", flush=True)
    ordered = entry(runs, cells)
    version, day = headless.version(str(executable)), datetime.now(UTC).date().isoformat()
    return {"version": version, "date": day, "events": ordered}


def entry(runs: Runs, cells: Cells) -> dict[str, Any]:
    """The events of an agent in their order, each with the agent's names of it and what was seen."""
    return {
        event: {"names": sorted(runs.natives.get(event, ())), **cells.get(event, {})}
        for event in (*TRIED, *WATCHED)
        if event in runs.live.events.values() or event in cells
    }


def read() -> dict[str, Any]:
    """What the last runs observed, in the order of the table of agents."""
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    return {name: seen[name] for name in AGENTS if name in seen}


def proven(seen: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The version and the date of each agent's last run, for `tenterhook agents`."""
    return {name: {key: entry[key] for key in ("version", "date")} for name, entry in seen.items()}


def write(new: Mapping[str, Any]) -> None:
    seen = {**read(), **new}
    ordered = {name: seen[name] for name in AGENTS if name in seen}
    SEEN.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
    PROVEN.write_text(json.dumps(proven(ordered), indent=1) + "\n")
    for page in (PAGE, README):
        page.write_text(with_tables(page.read_text(), tables(ordered)))


def main(words: list[str]) -> int:
    if words[:1] == [_APP_SERVER]:
        return decline_in_app_server(*words[1:])
    names = [word for word in words if not word.startswith("--")]
    if not set(words) - set(names) <= {"--write", "--render"} or not set(names) <= set(agents.PACKAGES):
        print(__doc__, file=sys.stderr)
        print("AGENT is one of", *agents.PACKAGES, file=sys.stderr)
        return 64
    if "--render" in words:
        write({})
        return 0
    for name, why in agents.skipped().items():
        if name in names or not names:
            print(f"{name} is left out: {why}", flush=True)
    wanted = {name: path for name, path in agents.installed().items() if name in names or not names}
    os.environ["PATH"] = os.pathsep.join((str(agents.node()), os.environ["PATH"]))
    new = {}
    with ThreadPoolExecutor(3) as pool:
        begun = {name: pool.submit(observe, name, wanted[name]) for name in wanted}
        for name, future in begun.items():
            try:
                new[name] = future.result()
            except Hung as error:
                print(f"{name} is left out: {error}", flush=True)
    for name, entry in new.items():
        print(f"\n{AGENTS[name].title}\n{agent_table(entry)}")
        print(*disagreements(name, entry), sep="\n")
    if "--write" in words:
        write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
