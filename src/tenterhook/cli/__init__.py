"""The command line: one command per file, one boundary for errors.

Exit status: 0 success, 1 failure, 2 an event was denied, 3 a conversion was lossy, 64 usage error.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click

from .. import __version__
from ..basics import agent_marks
from ..basics.display_text import visible
from ..errors import HookError, UnknownEvent
from .groups import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

USAGE = 64  # never click's 2, which means that an event was denied
INTERRUPTED = 130
COMPLETING = "_TENTERHOOK_COMPLETE"  # click's variable for shell completion


# The module of each command and its name there; imported when the command is used.
_COMMANDS = {
    **{name: (name, name) for name in ("add", "agent", "agents", "check", "completion", "convert", "daemon", "doctor")},
    **{name: (name, name) for name in ("allow", "guard", "pack", "update")},
    **{name: (name, name) for name in ("install", "log", "new", "replay", "show", "trigger", "trust", "uninstall")},
    **{name: (name, name) for name in ("disable", "enable", "hub", "inbox", "remove", "setup")},
    **{"list": ("list_hooks", "list_hooks"), "test": ("test_hooks", "test_hooks"), "untrust": ("untrust", "untrust")},
    "try": ("try_line", "try_line"),
}


class _Commands(Group):
    """The commands by name, each imported when it is used."""

    headings: ClassVar = {
        "Start": ("setup", "add", "install", "uninstall", "doctor", "agents", "completion"),
        "Write": ("new", "test", "check", "try", "trigger", "show", "convert", "agent", "guard"),
        "Watch": ("list", "log", "replay", "disable", "enable", "update", "remove", "allow", "daemon"),
        "Share": ("pack", "trust", "untrust", "hub", "inbox"),
    }

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name]
        command: click.Command = getattr(import_module(f".{module}", __package__), attribute)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As usual; for an unknown command the error suggests a similar name."""
        if arguments and not arguments[0].startswith("-") and arguments[0] not in _COMMANDS:
            from difflib import get_close_matches

            close = get_close_matches(arguments[0], _COMMANDS, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            context.fail(f"No such command '{arguments[0]}'.{hint}")
        return super().resolve_command(context, arguments)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names without their help texts: those would import every command while the shell waits."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name) for name in self.list_commands(context) if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, context, incomplete)]


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Hooks live in ~/.config/agents/hooks and in a project's .agents/hooks, one folder with a HOOK.md each.",
)
@click.version_option(__version__, prog_name="tenterhook")
@click.pass_context
def tenterhook(context: click.Context) -> int | None:
    """Run your hooks at every step of a coding agent's session: any hook format, any agent.

    Without a command, it prints the status: the agents found here, guarded or not, the hooks in force, the next step.
    """
    if context.invoked_subcommand is not None:
        return None
    from .status import print_status

    return print_status()


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status. All errors are printed here."""
    if os.environ.get(COMPLETING, "").endswith("_complete"):
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # no errors while a shell completes a word
    agent_marks.stay_with_agent()
    try:
        colour = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None  # else on a terminal
        status = tenterhook.main(list(arguments), prog_name="tenterhook", standalone_mode=False, color=colour)
        status = status if isinstance(status, int) else 0
        _flush(status)
    except click.UsageError as error:
        if error.ctx is not None:
            click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n", err=True)
        _print_error(f"Error: {error.format_message()}")
        return USAGE
    except UnknownEvent as error:
        _print_error(f"Error: {error}")
        return USAGE
    except click.Abort:
        click.echo("aborted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe
        _silence()
        return 1
    except HookError as error:
        _print_error(f"tenterhook: {error.message}")
        if error.remedy:
            _print_error(f"  {error.remedy}")
        return 1
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not error.filename and not os.path.isdir("."):
            _print_error("tenterhook: the current directory no longer exists\n  cd to one that does")
            return 1
        where = f": {visible(str(error.filename))}" if error.filename else ""
        _print_error(f"tenterhook: {error.strerror or error}{where}")
        return 1
    return status


def _print_error(text: str) -> None:
    from .printing import print_text

    print_text(visible(text), err=True)


def _flush(status: int) -> None:
    """Flush stdout. If that fails, raise only if the exit status would not report an error anyway."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _silence()
        if status == 0:
            raise


def _silence() -> None:
    """Redirect stdout to /dev/null, so that the interpreter's last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
