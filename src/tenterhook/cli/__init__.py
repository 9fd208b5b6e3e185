"""The command line: one command per file, one boundary for errors.

Exit status: 0 all is well, 1 something is wrong, 2 an event was denied, 3 a conversion lost something, 64 wrong usage.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from .. import __version__
from ..errors import HookError, UnknownEvent
from ..shown import visible
from .add import add
from .agent import agent
from .check import check
from .convert import convert
from .doctor import doctor
from .hub import hub
from .inbox import inbox
from .install import install
from .list_hooks import list_hooks
from .log import log
from .log_export import export
from .new import new
from .replay import replay
from .show import show
from .status import print_status
from .test_hooks import test_hooks
from .trigger import trigger
from .trust import trust
from .uninstall import uninstall
from .untrust import untrust

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 64  # never click's 2, which means that an event was denied
INTERRUPTED = 130


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Hooks live in ~/.config/agents/hooks and in a project's .agents/hooks, one folder with a HOOK.md each.",
)
@click.version_option(__version__, prog_name="tenterhook")
@click.pass_context
def tenterhook(context: click.Context) -> int | None:
    """Run your hooks at every step of a coding agent's life: any hook format, any agent.

    Alone it says where you stand: the agents found here, guarded or not, the hooks in force, and what to do next.
    """
    return print_status() if context.invoked_subcommand is None else None


_COMMANDS = (
    *(list_hooks, show, check, trigger, trust, untrust, install, uninstall, doctor, agent),
    *(add, new, test_hooks, convert, log, replay, hub, inbox),
)
for command in _COMMANDS:
    tenterhook.add_command(command)
log.add_command(export)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit status. Errors are said in one place and one way."""
    try:
        status = tenterhook.main(list(arguments), prog_name="tenterhook", standalone_mode=False)
        status = status if isinstance(status, int) else 0
        _flush(status)
    except click.UsageError as error:
        error.show()
        return USAGE
    except UnknownEvent as error:
        click.echo(f"Error: {visible(str(error))}", err=True)
        return USAGE
    except click.Abort:
        click.echo("aborted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        _silence()
        return 1
    except HookError as error:
        click.echo(f"tenterhook: {visible(error.message)}", err=True)
        if error.remedy:
            click.echo(f"  {visible(error.remedy)}", err=True)
        return 1
    except OSError as error:
        where = f": {visible(str(error.filename))}" if error.filename else ""
        click.echo(f"tenterhook: {error.strerror or error}{where}", err=True)
        return 1
    return status


def _flush(status: int) -> None:
    """Get everything printed; if it cannot be, a status that says something is kept all the same."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _silence()
        if status == 0:
            raise


def _silence() -> None:
    """Nothing more to say, not even when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
