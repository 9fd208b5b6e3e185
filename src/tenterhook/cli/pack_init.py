"""`tenterhook pack init`: a new pack with a hook, its cases and a recipe for CI."""

from __future__ import annotations

import os
import shlex

import click

from ..authoring import folders, templates
from ..errors import HookError
from ..formats.toml_writing import value
from .printing import print_text, short_path

_WORKFLOW = """\
name: hooks
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-python@v6
        with: {python-version: "3.12"}
      - run: pip install tenterhook
      - run: tenterhook test hooks/* --trust-project
"""
_README = """\
# {name}

Hooks for coding agents. To use them:

    tenterhook pack add URL-of-this-repository@v1.0.0

`hooks/` has one folder per hook; `tenterhook test hooks/NAME --trust-project` runs its cases.
Tag a revision to release it.
"""


@click.command("init", short_help="Create a pack.")
@click.argument("directory", metavar="DIRECTORY")
def pack_init(directory: str) -> int:
    """Create a pack: pack.toml, a hook with cases that pass, a README and a workflow that runs the cases.

    \b
    tenterhook pack init agent-hooks
    """
    name = os.path.basename(os.path.abspath(directory))
    try:
        folders.check_name(name)
    except HookError as error:
        raise click.UsageError(str(error)) from None
    if os.path.exists(directory) and os.listdir(directory):
        raise HookError(f"{directory} is not empty", "name a new directory")
    hook = templates.render(
        *("no-force-push", "pre-tool-call", "sh", "Shell", "push .*--force"), "Push without --force, or ask me."
    )
    listed = ["no-force-push"]
    text = (
        f'name = {value(name)}\ndescription = "Hooks for our coding agents"\nhooks = {value(listed)}   # by default\n'
    )
    files = {
        "pack.toml": text,
        "README.md": _README.format(name=name),
        ".gitattributes": "* text=auto eol=lf\n",
        ".github/workflows/hooks.yml": _WORKFLOW,
    }
    for path, content in files.items():
        target = os.path.join(directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x", encoding="utf-8") as file:
            file.write(content)
    folders.write(os.path.join(os.path.abspath(directory), "hooks", "no-force-push"), hook.files, replace=False)
    print_text(f"created {short_path(os.path.abspath(directory))}: {', '.join(files)}, hooks/no-force-push")
    click.echo(
        f"next:\n  cd {shlex.quote(directory)}\n  git init && git add . && git commit -m hooks && git tag v1.0.0"
    )
    click.echo("  tenterhook pack add <its address>@v1.0.0")
    return 0
