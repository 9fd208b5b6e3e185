"""`tenterhook agent`: the bundled coding agent, for one prompt or as an interactive session."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..approvals.requests import MODES
from ..basics import agent_marks
from ..basics.display_text import one_line, visible
from ..errors import HookError
from .loading import config_option, ids_in, json_option, offered
from .printing import print_json, print_problems, print_text, short_path, terminal_width
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from ..bundled_agent.conversation import Conversation, SessionEnded
    from ..bundled_agent.screen import Screen
    from ..bundled_agent.settings import AgentSettings
    from ..engine.engine import Engine
    from ..errors import Problem
    from ..hub_client.asking import JoinedHub
    from ..install.sources import Source

STATUS = {"success": 0, "failed": 1, "refused": 2, "interrupted": 130}
_NEWEST = "newest"
_RESUMING = "agent --resume"  # with --config it would set variables for the guards of that session


def _sessions(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For shell completion: session ids, with the first prompt of those of this directory."""
    from ..bundled_agent import session_files

    about = {name: one_line(prompt)[:60] for name, prompt in session_files.first_prompts(os.getcwd()).items()}
    found = dict.fromkeys([*about, *ids_in("agent", incomplete, ".jsonl")])
    return [CompletionItem(name, help=about.get(name) or None) for name in offered(found, incomplete)]


@click.command(short_help="Run the bundled coding agent, which fires every event.")
@click.argument("prompt", required=False)
@click.option("--model", metavar="M", help="Any pydantic-ai model, such as openai:gpt-5; or scripted:FILE.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server that serves the model.")
@click.option(
    "--mode",
    type=click.Choice(list(MODES)),
    help="ask: before Shell, writes and Task; auto: before Shell; yolo: never.",
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=_NEWEST,
    metavar="[ID]",
    shell_complete=_sessions,
    help="Resume a session (default: the last one here).",
)
@click.option("--sessions", "lists", is_flag=True, help="List the sessions of this directory.")
@config_option
@click.option("--debug", is_flag=True, help="Print to stderr what each hook receives and how it ends.")
@json_option
def agent(
    prompt: str | None,
    model: str | None,
    base_url: str | None,
    mode: str | None,
    resume: str | None,
    lists: bool,
    configs: tuple[str, ...],
    debug: bool,
    as_json: bool,
) -> int:
    """Run the bundled coding agent: your hooks see every step of it.

    With a PROMPT (or text on stdin), it runs one turn and exits: status 0 done, 2 refused by a hook or by you, 1
    failed. Without one, it starts an interactive session.

    \b
    tenterhook agent "add a test for the parser" --model openai:gpt-5
    tenterhook agent --mode auto
    tenterhook agent --resume
    tenterhook agent --sessions
    tenterhook agent "try it" --model scripted:session.yaml --mode yolo --json
    """
    if lists:
        if prompt is not None or resume is not None:
            raise click.UsageError("--sessions cannot be combined with a prompt or --resume")
        return _list_sessions(as_json)
    refuse_below_agent("agent", only_if_certain=True)  # the other agent's hooks would not see what its tools do
    for package in ("pydantic_ai", "prompt_toolkit"):
        if find_spec(package) is None:
            from ..basics.install_hints import install_command

            raise HookError(f"the agent needs {package}", f"install it with: {install_command('agent')}")
    import pydantic_ai

    pydantic_ai.BANNER_ENABLED = False  # this is Tenterhook's terminal
    from ..bundled_agent import settings as settings_

    settings = settings_.load()
    if mode:
        settings = settings._replace(mode=mode)
    if resume is not None:
        refuse_below_agent(_RESUMING)
        prompt, resume = _resumed(prompt, resume)
    if prompt is None and not sys.stdin.isatty():
        prompt = sys.stdin.read()
    if prompt is not None and not prompt.strip():
        raise click.UsageError("the prompt is empty")
    return _Starting(settings, model, base_url, resume, configs, debug, as_json).run(prompt)


class _Starting:
    """Creates sessions with the options of the command line, and runs them."""

    def __init__(
        self,
        settings: AgentSettings,
        model: str | None,
        base_url: str | None,
        resume: str | None,
        configs: tuple[str, ...],
        debug: bool,
        as_json: bool,
    ) -> None:
        from ..basics import places
        from ..bundled_agent import models

        self.settings = settings
        self.model = models.named(model or settings.model, base_url or settings.base_url, places.settings_file())
        self.work_dir = os.getcwd()
        self.resume = resume
        self.as_json = as_json
        self.files, problems = _files(self.work_dir, configs)
        print_problems(problems, err=True)
        self.engine = _engine(self.work_dir, self.files, configs, debug)
        self.hub = _hub()

    def run(self, prompt: str | None) -> int:
        import asyncio

        from ..basics.terminal_layout import is_coloured
        from ..bundled_agent.screen import Screen

        print_problems(self.engine.problems, err=True)
        for each in self.engine.catalog.disabled() if self.engine.catalog else ():
            _err(f"tenterhook: {visible(str(each))}\n")
        if prompt is None:
            screen = Screen(_to_terminal, _to_terminal, colour=True, width=_columns)
            return asyncio.run(self._interactive(screen))
        out = (lambda _: None) if self.as_json else _out
        width = _columns if sys.stderr.isatty() else None
        screen = Screen(out, _err, colour=is_coloured(sys.stderr), width=width)
        return asyncio.run(self._one_turn(screen, prompt))

    async def _interactive(self, screen: Screen) -> int:
        from ..bundled_agent.terminal import Interactive, Terminal, ctrl_d_is_a_key

        terminal = Terminal(screen)
        refusal = agent_marks.refusal()  # checked now: once a session has begun, this process is itself a guarded agent

        def open_session(session_id: str | None, current: str) -> Conversation:
            if refusal is not None:
                raise HookError(f"'tenterhook {_RESUMING}' {refusal.why}", refusal.remedy)
            chosen = _session_id(session_id or _NEWEST, self.work_dir, but=current)
            return self._conversation(screen, [terminal], chosen)

        conversation = self._conversation(screen, [terminal], self.resume)
        with ctrl_d_is_a_key():
            verdict = await conversation.begin("shell")
            if verdict.denied:
                screen.refused(verdict.reason or "a hook refused to start the session")
                return STATUS["refused"]
            screen.note(f"{conversation.id} · {self.model.model_id} · /help · Ctrl-D ends")
            await Interactive(terminal, screen, open_session).run(conversation)
        return 0

    async def _one_turn(self, screen: Screen, prompt: str) -> int:
        import asyncio
        import signal

        from ..bundled_agent import session_files
        from ..bundled_agent.conversation import SessionEnded

        task = asyncio.current_task()
        assert task is not None
        surfaces = []
        if sys.stdin.isatty() and sys.stderr.isatty() and not self.as_json:
            from ..bundled_agent.terminal import Terminal

            surfaces.append(terminal := Terminal(screen, prompts=False))
            terminal.busy = task
        conversation = self._conversation(screen, surfaces, self.resume)
        if conversation.resumed is not None and not self.as_json:
            screen.note(session_files.headline(conversation.resumed, _columns()))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        try:
            verdict = await conversation.begin("print")
            if verdict.denied:
                ended = SessionEnded("refused", verdict.reason or "", verdict.reason)
                return self._end(screen, conversation, ended)
            ended = await _to_the_end(conversation, prompt)
        except asyncio.CancelledError:
            task.uncancel()
            ended = SessionEnded("interrupted", reason="interrupted", exit_reason="interrupted")
        try:
            await conversation.finish(ended.exit_reason, awaits_background=True)
        except asyncio.CancelledError:  # interrupted a second time: the last hooks are ended
            task.uncancel()
            ended = SessionEnded("interrupted", ended.answer, "interrupted")
        return self._end(screen, conversation, ended)

    def _end(self, screen: Screen, conversation: Conversation, ended: SessionEnded) -> int:
        if self.as_json:
            print_json(
                {
                    "schema": 1,
                    "session_id": conversation.id,
                    "outcome": ended.outcome,
                    "answer": ended.answer,
                    "reason": ended.reason,
                    "steps": conversation.steps,
                    "usage": conversation.usage,
                    "hooks": conversation.tally.as_json(),
                }
            )
        elif ended.outcome == "refused" and not (_is_all_on_terminal() and screen.has_shown(ended.answer)):
            _out(visible(ended.answer) + "\n")
        if ended.reason and ended.outcome != "refused":
            screen.error(ended.reason)
        return STATUS[ended.outcome]

    def _conversation(self, screen: Screen, surfaces: list[Any], resume: str | None) -> Conversation:
        from ..bundled_agent.conversation import Conversation

        hub: dict[str, Any] = {}
        if self.hub is not None:
            surfaces = [*surfaces, self.hub.surface()]
            hub = {"more_rules": self.hub.rules, "recorded": self.hub.upload}
        return Conversation(
            self.engine,
            self.model,
            self.settings,
            screen,
            work_dir=self.work_dir,
            surfaces=surfaces,
            resume=resume,
            places={source.file: str(source) for source in self.files},
            **hub,
        )


async def _to_the_end(conversation: Conversation, prompt: str) -> SessionEnded:
    """Run the prompt's turn, and the turns that background tasks start when they finish."""
    ended = await conversation.turn(prompt)
    while conversation.tasks.running or conversation.notifications:
        await conversation.tasks.wait()
        heard = "\n".join(conversation.take_notifications())
        if heard and ended.outcome == "success":
            ended = await conversation.turn(heard, origin="notification")
    return ended


def _files(work_dir: str, configs: tuple[str, ...]) -> tuple[tuple[Source, ...], list[Problem]]:
    from ..catalog import project_root
    from ..install import sources

    return sources.files_of(sources.BUNDLED, project_root.project_root(work_dir), configs)


def _engine(work_dir: str, files: tuple[Source, ...], configs: tuple[str, ...], debug: bool) -> Engine:
    from ..catalog import project_root
    from ..catalog.live_catalog import LiveCatalog
    from ..catalog.trust import Trust
    from ..engine.engine import Engine
    from ..install import sources
    from ..journal.journal import Journal

    root = project_root.project_root(work_dir)
    unnamed = sources.files_not_named(files, configs)
    followed = LiveCatalog(root, [source.file for source in files], Trust(root), unnamed)
    say = (lambda line: _err(visible(line) + "\n")) if debug else None
    return Engine(followed=followed, debug=say, journal=Journal("agent"))


def _hub() -> JoinedHub | None:
    """Return the hub that this account has joined, or None."""
    from ..approvals import configured

    if not configured.is_joined():
        return None
    from ..hub_client.asking import JoinedHub
    from ..hub_client.membership import load

    try:
        joined = load()
    except HookError as error:  # go on without it
        _err(f"tenterhook: no hub: {visible(str(error))}\n")
        return None
    return JoinedHub(joined) if joined is not None else None


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _list_sessions(as_json: bool) -> int:
    from ..bundled_agent import session_files

    found = session_files.sessions(os.getcwd())
    if as_json:
        print_json({"schema": 1, "sessions": [each.as_json() for each in found]})
    elif not found:
        print_text(f"no sessions in {short_path(os.getcwd())}; start one: tenterhook agent")
    else:
        for line in session_files.table(found, terminal_width()):
            click.echo(line)
        print_text("resume one: tenterhook agent --resume ID", err=True)
    return 0


def _resumed(prompt: str | None, given: str) -> tuple[str | None, str]:
    """Return the prompt and the session id of `--resume`; in `--resume "go on"` the value is the prompt."""
    from ..bundled_agent import session_files

    is_session = given == _NEWEST or session_files.existing(given) is not None
    if prompt is None and not is_session and not session_files.is_like_an_id(given):
        prompt, given = given, _NEWEST
    return prompt, _session_id(given, os.getcwd())


def _session_id(given: str, work_dir: str, *, but: str | None = None) -> str:
    from ..bundled_agent import session_files

    if given != _NEWEST:
        found = session_files.existing(given)
        if found is None:
            raise session_files.missing(given)
        return found
    newest = session_files.newest(work_dir, but=but)
    if newest is None:
        raise HookError(f"there is no session in {work_dir} to resume", "start one: tenterhook agent")
    return newest


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _to_terminal(text: str) -> None:
    """Write to stdout; a terminal that was closed is not an error, so that the session can still be ended."""
    try:
        _out(text)
    except OSError:
        pass


def _err(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _is_all_on_terminal() -> bool:
    """Return whether stdout and stderr are both terminals."""
    return sys.stdout.isatty() and sys.stderr.isatty()
