"""The interface of an agent's module: it provides an instance of a subclass of `Agent`.

The rest of the program uses this object and never compares agents' names. The module imports only what an event needs;
methods for `install`, `doctor` and headless runs import what they need themselves.
"""

from __future__ import annotations

import os

from ..basics import light_json, places
from ..basics.named_tuples import NamedTuple
from ..errors import HookError
from ..events import MCP_SPELLING, NAMES_OF_TOOL, mcp_names
from . import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall, Turn
    from ..model import Event, Verdict
    from .claude_json import Dialect
    from .codec import Capabilities, HookOutput, Received, Reply

LONGEST = 600  # seconds: the longest timeout of a hook, which every agent accepts

# Modes of a headless run.
PLAIN = "plain"  # only the tools are approved beforehand, so that only a hook can block
AUTO_APPROVE = "auto-approve"  # the agent asks no questions
SUBAGENT = "subagent"  # the call is made by a subagent
RESUMED = "resumed"  # the call is made by a second process that resumes the session of a first
MODES = (PLAIN, AUTO_APPROVE, SUBAGENT, RESUMED)

PROMPT = "Please do the scripted task."
TASK = "Please do your part of the scripted task."  # the prompt of a subagent
DONE = "All done."
PROVIDER = "tenterhook"  # the name of the scripted model's provider in settings
MODEL = "scripted-model"
KEY = "not-a-key"

UNPROVEN = "written from documentation: the released program was never run with it"


class TrustTable(NamedTuple):
    """Tables `[table."key"]` with a `field` that holds a hash, in a TOML file of the agent's directory."""

    file: str
    table: str
    field: str


class EnabledList(NamedTuple):
    """A list in a YAML file of the agent's directory, below these keys, that must contain the name of our plug-in."""

    file: str
    keys: tuple[str, ...]
    item: str


class Agent:
    """One agent: its events and answers, its settings, what switches hooks off, and how it is run headless."""

    name: str  # on the command line and in records
    title: str  # in messages
    proven: bool = True  # tested with the released program; else written from documentation

    # ---------------------------------------------------------------- events and answers

    events: ClassVar[Mapping[str, str]]  # our event, by the agent's name (`codec.OTHER` if there is no counterpart)
    variants: ClassVar[Mapping[str, str]] = {}  # another event of ours that one of its events is, with some payloads
    no_decision: ClassVar[Mapping[str, str]] = {}  # the output if there is no decision, by its event; else none
    tells_stops: bool = True  # its stop events say whether a hook has sent it back in this turn
    capabilities: Capabilities
    dialect: Dialect | None = None  # if it speaks the JSON of Claude Code
    input_keys: ClassVar[Mapping[str, str]] = {}  # the key that its tools read, by the key that hooks expect
    tools: ClassVar[tuple[str, ...]] = ()  # those without a counterpart; the others are in `events.TOOL_NAMES`
    # prefix and separator in the names of MCP servers' tools; None: the names do not contain the server
    mcp_spelling: tuple[str, str] | None = MCP_SPELLING
    mcp_prefix: str | None = None  # of the names, if an agent marks such tools and does not name the server
    env_file: tuple[str, str] | None = None  # the variable that names a file of variables for its tools; its folder
    unattended: tuple[bytes, bytes] | None = None  # the variable and value that tell that the user cannot be asked

    def meanings(self, native: str) -> tuple[str, ...]:
        """Return the events of ours that one of its events may be."""
        other = self.variants.get(native)
        return (self.events[native],) if other is None else (self.events[native], other)

    def read_event(self, payload: dict[str, Any], native: str) -> Received:
        """Return the event in a payload; `native` is the agent's name of it."""
        assert self.dialect is not None
        if self.events.get(native, codec.OTHER) == codec.OTHER:
            event = codec.unknown_event(native, payload)
        else:
            from ..formats import agent_payloads

            event = agent_payloads.read(self.dialect, {**payload, "hook_event_name": native})
        return self.received(event, native, payload)

    def received(self, event: Event, native: str, payload: dict[str, Any]) -> Received:
        """Return the event with the keys that hooks expect, and the rest of the payload as its context."""
        name = self.dialect.format if self.dialect else self.name
        mcp_names = self.mcp_names(event.tool_name, payload) if event.tool_name else None
        return codec.received(native, event, payload, name, self.input_keys, mcp_names)

    def mcp_names(self, tool: str, payload: dict[str, Any]) -> list[str]:
        """Return the names `mcp:server/tool` that a tool may have, the likeliest first; empty if it is the agent's own.

        There are several if the agent's name of the tool is ambiguous.
        """
        if self.mcp_spelling is None or tool in NAMES_OF_TOOL or tool in self.tools:
            return []
        return mcp_names(tool, *self.mcp_spelling)

    def native_output(self, received: Received, output: Any) -> Any | None:
        """Return a replaced output in the form that the agent accepts; None if that is not possible."""
        return output

    def answer(self, reply: Reply) -> dict[str, Any] | str | None:
        """Return what to write to stdout; None for exit status 2 with the reason on stderr."""
        raise NotImplementedError

    def write_verdict(self, received: Received, verdict: Verdict) -> HookOutput:
        """Return the verdict in the agent's form, with what could not be expressed."""
        reply, lost = codec.reply(self.title, self.capabilities, received, verdict, self.native_output)
        content = self.answer(reply)
        if reply.message is not None and not (isinstance(content, dict) and reply.message in content.values()):
            lost.append("message: not beside this answer")
        if content is None and reply.deny is not None:
            return codec.HookOutput(stderr=reply.deny + "\n", blocks=True, lost=tuple(lost))
        if isinstance(content, dict):
            content = light_json.encode(content).decode() if content else ""
        return codec.HookOutput(stdout=content or self.no_decision.get(received.native, ""), lost=tuple(lost))

    def hand_over(self, received: Received, answer: HookOutput) -> None:
        """Store an answer for our plug-in, if the agent does not use all of our output. Does nothing by default."""

    def export_variables(self, variables: Mapping[str, str], agent_home: str, environ: Mapping[bytes, bytes]) -> None:
        """Write variables to the file that the agent names for its own tools, if it has one.

        Only inside the agent's own folder: a repository can set variables, and must not choose the file.
        """
        name, folder = self.env_file or ("", "")
        file = os.fsdecode(environ.get(name.encode(), b""))
        if not variables or not places.is_inside(file, os.path.join(agent_home, folder)):
            return
        quoted = {name: value.replace("'", "'\\''") for name, value in variables.items()}
        with open(file, "a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.writelines(f"export {name}='{value}'\n" for name, value in quoted.items())

    def is_attended(self, environ: Mapping[bytes, bytes]) -> bool:
        """Whether the user can be asked. True unless the agent's variables say otherwise."""
        return self.unattended is None or environ.get(self.unattended[0]) != self.unattended[1]

    # ---------------------------------------------------------------- settings

    executables: ClassVar[tuple[str, ...]]
    directory: str  # of its settings, below the home
    variable_prefix: str  # of the names of its variables
    variable: str | None = None  # the variable that moves that directory
    variable_adds: str = ""  # appended to the variable's value
    file: str = "settings.json"  # the file with hooks, in that directory
    project_file: str | None = None  # below a project's root; None: a project has no settings
    toml: bool = False  # else JSON
    event_key: str = "event"  # the key of an entry's event, in TOML
    hooks_at_top: bool = False  # its JSON file may have the events at the top, instead of below `hooks`
    knows_no_others: bool = False  # it runs no hook if the file has an event that it does not know
    project_replaces: bool = False  # a project's file replaces the user's
    plugin: str | None = None  # a template in agents/plugins: `install` writes the file, with our entries
    plugin_files: ClassVar[Mapping[str, str]] = {}  # templates of more files, by the path from the file's directory
    enabled_in: EnabledList | None = None  # where the plug-in must be enabled
    beside: ClassVar[Mapping[str, Any]] = {}  # other keys that the file needs
    open_status: int = 1  # an exit status that shows stderr and blocks nothing
    timeouts: ClassVar[Mapping[str, int]] = {}  # events with a shorter limit than `LONGEST`, in seconds
    also_read: ClassVar[tuple[str, ...]] = ()  # more files of its directory in which it finds hooks
    is_hook_source: bool = False  # hooks in its own settings are in force in the bundled agent too
    reloads_hooks: bool = False  # it uses entries that are written while it runs
    trust_table: TrustTable | None = None  # where it keeps hashes of trusted hooks, if it runs only those
    needs_project_trust: bool = False  # it ignores a project's hooks until the user trusts the project
    managed: ClassVar[Mapping[str, Any] | None] = None  # fields of its `ManagedSettings`; None: it has none
    event_tables: bool = False  # its TOML file has a table `[[hooks.EVENT]]` for each entry

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        """Return an entry for its settings that runs a command line at an event."""
        return {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}

    def trusted_hashes(self, settings: str, hooks: Mapping[str, Any]) -> dict[str, str]:
        """Return the hashes that `trust_table` needs for our entries in the `hooks` of a file, by key."""
        return {}

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        """Yield what the user should know after installing."""
        if in_project and self.needs_project_trust:
            remedy = "start it there and trust the folder"
            yield f"{self.title} reads a project's hooks only if the project is trusted: {remedy}"

    def home(self) -> str:
        """Return the folder of this user's settings."""
        moved = os.environ.get(self.variable, "") if self.variable else ""
        return moved + self.variable_adds if moved.startswith("/") else os.path.join(places.home(), self.directory)

    def settings(self, root: str | None = None) -> str:
        """Return the settings file with hooks, the user's or a project's. Raises `HookError` if there is none."""
        if root is None:
            return os.path.join(self.home(), self.file)
        if self.project_file is None:
            raise HookError(
                f"{self.title} has no settings of a project", f"tenterhook install {self.name} guards every project"
            )
        return os.path.join(root, self.project_file)

    def seconds(self, event: str) -> int:
        """Return the timeout of the entry for an event."""
        return self.timeouts.get(event, LONGEST)

    def executable(self) -> str | None:
        """Return the agent's program on this machine, if it is found."""
        import shutil

        found = filter(None, map(shutil.which, self.executables))
        return next((program for program in found if self.is_program(program)), None)

    def is_program(self, program: str) -> bool:
        """Whether an executable with the right name is this agent."""
        return True

    def is_present(self) -> bool:
        """Whether this user has the agent, or its settings."""
        return self.executable() is not None or os.path.isdir(self.home())

    def version(self) -> str | None:
        """Return the version that the program prints; None if there is no program or it prints none."""
        program = self.executable()
        if program is None:
            return None
        from . import headless

        return headless.version(program)

    # ---------------------------------------------------------------- doctor

    env_settings: ClassVar[tuple[str, ...]] = ()  # files below a project's root in which `env` sets variables
    env_files: ClassVar[tuple[str, ...]] = ()  # files below a project's root with lines NAME=value
    shell_variables: ClassVar[tuple[str, ...]] = ()  # variables that affect the shell that runs our entry

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        """Yield what prevents our entries in `settings` from running, each with a remedy. `root` is the project's."""
        yield from ()

    # ---------------------------------------------------------------- a headless run against a scripted model

    headless_settings: str  # the file that `prepare` changes, below the home
    modes: ClassVar[tuple[str, ...]] = MODES
    missing_modes: ClassVar[Mapping[str, str]] = {}  # the others, each with the reason
    shell_tool: str = "Bash"
    write_tool: str = "Write"
    subagent_tool: str = "Agent"
    subagent_type: str = "general-purpose"

    def prepare(self, home: Path, url: str) -> None:
        """Configure a temporary home for a model at `url`, without changing its settings about hooks.

        Other models, their keys and MCP servers are removed: a headless run must not reach them.
        """
        raise NotImplementedError

    def copy_trust(self, home: Path, root: str | None, project: Path) -> None:
        """Rewrite paths in trust settings that were copied to a temporary home, for a copy of the project `root`."""

    def environment(self, home: Path, url: str) -> dict[str, str]:
        """Return the variables that it needs for a headless run, besides those for every agent."""
        return {}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        """Return the command line of one headless turn, in a new session or, with `resume`, in the newest one."""
        raise NotImplementedError

    def shell_call(self, command: str) -> ScriptedCall:
        """Return a call of the shell tool."""
        return call(self.shell_tool, {"command": command})

    def write_call(self, path: str, content: str) -> ScriptedCall:
        """Return a call that writes a file."""
        given = {"file_path": path, "content": content}
        return call(self.write_tool, {self.input_keys.get(key, key): value for key, value in given.items()})

    def subagent_call(self) -> ScriptedCall:
        """Return a call that starts a subagent with the prompt `TASK`."""
        given = {"description": "scripted", "prompt": TASK, "subagent_type": self.subagent_type}
        return call(self.subagent_tool, given)

    def subagent_end(self) -> Turn:
        """Return the turn with which a subagent ends."""
        from ..basics.model_script import Turn

        return Turn(text=DONE)

    def script(self, mode: str, *calls: ScriptedCall, prompt: str = PROMPT) -> tuple[Turn, ...]:
        """Return a script in which the calls are made at once, by the agent or by its subagent."""
        from ..basics.model_script import Turn

        if mode == SUBAGENT:  # only the main agent's requests contain the prompt
            return (
                Turn(calls=(self.subagent_call(),), when=prompt),
                Turn(calls=calls, unless=prompt),
                self.subagent_end()._replace(unless=prompt),
                Turn(text=DONE, when=prompt, last=True),
            )
        if mode == RESUMED:
            return Turn(text="Ready."), Turn(calls=calls, when=prompt), Turn(text=DONE, when=prompt)
        return Turn(calls=calls), Turn(text=DONE)


def call(tool: str, given: dict[str, Any] | str) -> ScriptedCall:
    """Return a tool call of a scripted model."""
    from ..basics.model_script import ScriptedCall

    return ScriptedCall(tool, given)
