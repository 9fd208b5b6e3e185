"""`[[approvals.rules]]`: what they cover, what they never cover, and what is said about those that are wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import time
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from support import takes_less_than, tenterhook
from tenterhook.approvals import configured, presenter, rules
from tenterhook.approvals.requests import Call
from tenterhook.approvals.rules import Rule
from tenterhook.basics import private_files
from tenterhook.bundled_agent import settings
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path

APPROVED = Rule("approve", tool="Shell", command="git status")
ANY_GIT = Rule("approve", tool="Shell", pattern="^git (status|diff)")
DENIED = Rule("deny", tool="Shell", command="rm x", reason="never")

# Lines that begin with what is approved, and do something else besides.
MORE_THAN_IT = [
    "git status; rm -rf x",
    "git status;rm -rf x",
    "git status && rm -rf x",
    "git status || rm -rf x",
    "git status & rm -rf x",
    "git status &",
    "git status\nrm -rf x",
    "git status | sh",
    "git status |& sh",
    "git status $(rm -rf x)",
    'git status "$(rm -rf x)"',
    "git status `rm -rf x`",
    'git status "`rm -rf x`"',
    "git status <(rm -rf x)",
    "git status > ~/.bashrc",
    "git status >> x",
    "git status 2>x",
    "git status >&2",
    "git status < x",
    "git status <<E\n$(rm -rf x)\nE",
    "git status <<< $(rm -rf x)",
    "git status $x",
    "git status ${x:=y}",
    'git status "$x"',
    "git status $((x))",
    "git status $'\\x41'",
    "(git status)",
    "{ git status; }",
    "! git status",
    "if true; then git status; fi",
    "GIT_PAGER='rm -rf x' git status",
    "git status # rm -rf x",
    "git() { rm -rf x; }",
]
# Lines that no shell can make sense of as a whole.
UNPARSABLE = [
    "git status '",
    'git status "',
    "git status $(",
    "git status `",
    "git status )",
    "git status && ",
    "git status |",
]


def call(given: str | dict[str, Any], tool: str = "Shell", work_dir: str = "/home/me") -> Call:
    return Call(tool, {"command": given} if isinstance(given, str) else given, work_dir)


def answer(given: Call | str, *each: Rule) -> str | None:
    """What the rules say about a call."""
    found = rules.match(each, call(given) if isinstance(given, str) else given)
    return None if found is None else found.answer


# ------------------------------------------------------------------ which rule holds


def test_any_deny_wins_wherever_it_stands() -> None:
    everything = Rule("approve", tool="Shell")
    assert answer("rm x", everything, DENIED) == answer("rm x", DENIED, everything) == "deny"
    assert rules.match([everything, DENIED, Rule("deny")], call("rm x")) == DENIED


def test_otherwise_the_first_match_holds() -> None:
    asked = Rule("ask", command="git status")
    assert answer("git status", APPROVED, asked) == "approve"
    assert answer("git status", asked, APPROVED) == "ask"
    assert answer("git diff", APPROVED, asked) is None


def test_a_rule_asks_only_about_what_it_names() -> None:
    assert answer(call({"name": "x"}, "Task"), Rule("approve")) == "approve"
    assert answer(call({"name": "x"}, "Task"), Rule("approve", tool="^Shell$")) is None
    assert answer(call({"name": "x"}, "Task"), Rule("deny", pattern="^x$")) == "deny"
    assert answer(call({"a": {"b": ["y", 1, "x"]}}, "Other"), Rule("deny", pattern="^x$")) == "deny"
    assert answer(call({}, "Task"), Rule("deny", pattern="x")) is None


@pytest.mark.parametrize("name", ["Shell", "Bash", "run_shell_command", "exec_command"])
@pytest.mark.parametrize("rule", ["^Shell$", "^Bash$", "^run_shell_command$"])
def test_a_tool_is_known_by_each_of_its_names(name: str, rule: str) -> None:
    """As a hook's matcher does (PROTOCOL 3): a rule that finds either name matches; a denial above all."""
    assert answer(call("ls", name), Rule("deny", tool=rule)) == "deny"


def test_a_directory_is_it_or_below_it(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    (tmp_path / "link").symlink_to("a/b")
    (home / "work").mkdir()
    rule = Rule("approve", directory=str(tmp_path / "a"))
    inside = {name: answer(call("ls", work_dir=str(tmp_path / name)), rule) for name in ("a", "a/b", "link", "ab", ".")}
    assert inside == {"a": "approve", "a/b": "approve", "link": "approve", "ab": None, ".": None}
    assert answer(call("ls", work_dir=str(home / "work")), Rule("approve", directory="~/work")) == "approve"
    assert answer(call("ls", work_dir=str(home)), Rule("approve", directory="~/work")) is None


@pytest.mark.parametrize("name", ["\ud800", "\0"])
def test_a_directory_that_no_file_system_can_have_does_not_end_the_search(name: str) -> None:
    """It is in JSON that a model writes; a denial must not be lost with it."""
    given = {"command": "make", "workdir": f"/usr/{name}"}
    denials = [Rule("deny", directory=f"/etc/{name}"), Rule("deny", directory="/usr")]
    assert answer(call(given, work_dir="/usr/lib"), *denials) == "deny"
    assert answer(call("make", work_dir=f"/usr/{name}"), *denials) == "deny"
    assert answer(call(given, work_dir="/etc"), Rule("approve", directory="/usr")) is None


# ------------------------------------------------------------------ what an approval covers


@pytest.mark.parametrize("line", ["git status", "  git status", "git status\n"])
def test_an_approval_covers_the_command_itself(line: str) -> None:
    assert answer(line, APPROVED) == "approve"


@pytest.mark.parametrize("line", ["git status -s", "git  status", "git 'status'", "git", "sudo git status", ""])
def test_a_command_is_meant_exactly(line: str) -> None:
    assert answer(line, APPROVED) is None


@pytest.mark.parametrize("line", [*MORE_THAN_IT, *UNPARSABLE])
@pytest.mark.parametrize("rule", [APPROVED, ANY_GIT, Rule("approve", pattern="git")], ids=["exact", "begins", "holds"])
def test_an_approval_never_covers_a_line_with_more_in_it(line: str, rule: Rule) -> None:
    assert answer(line, rule) is None


def test_not_even_an_exact_rule_approves_what_is_no_plain_command() -> None:
    for line in [*MORE_THAN_IT, *UNPARSABLE]:
        assert answer(line, Rule("approve", command=line)) is None, line


@pytest.mark.parametrize(
    "line",
    [
        "git status --short",
        "git diff 'a b' \"c d\"",
        "git diff '$(rm -rf x)'",
        "git diff '; rm -rf x'",
        'git diff "; rm -rf x"',
        "git diff a\\;b",
        "git diff \\\n  --stat",
        "git diff HEAD~1 -- src/a.py",
        "git diff -U10",
    ],
)
def test_a_pattern_covers_plain_words_and_quotes(line: str) -> None:
    assert answer(line, ANY_GIT) == "approve"


def test_an_approval_without_a_command_covers_the_whole_tool() -> None:
    """What it does not name, it does not ask about."""
    assert answer("git status; rm -rf x", Rule("approve", tool="Shell")) == "approve"


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "/etc/cron.d/x", "content": "docs/ are here"},
        {"content": "docs/ are here", "file_path": "a.py"},
        {"file_path": "docs/../a.py", "content": ""},
        {"file_path": "docs/../../../etc/passwd", "content": ""},
    ],
)
def test_an_approval_of_files_by_their_path_is_met_by_no_other_text(given: dict[str, Any]) -> None:
    rule = Rule("approve", tool="^WriteFile$", pattern="^docs/")
    assert answer(call({"file_path": "docs/a.md", "content": "x"}, "WriteFile"), rule) == "approve"
    assert answer(call(given, "WriteFile"), rule) is None


# Commands that a pattern for a program covers, each with options by which the program does something else.
READING_AND_MORE = {
    "git diff HEAD": ["git diff --output=x", "git diff --outp=x", "git diff --ext-diff", "git diff --textconv"],
    "git log -p": ["git log -p --ext-diff", "git log --output x", "git -c core.pager=x log", "git --exec-path=x log"],
    "git clone u d": ["git clone -c core.fsmonitor=x u d", "git clone --config=a=b u", "git clone --template=x u"],
    "git grep a": ["git grep --open=x a", "git grep -Ox a", "git grep --open-files-in-pager=x a"],
    "git archive HEAD": ["git archive --exec=x --remote=a b", "git archive -o x b"],
    "git config user.name me": ["git config core.pager x", "git config alias.status '!x'"],
    "rg a": ["rg --pre x a", "rg --pre=x a", "rg --hostname-bin=x a"],
    "sed -n 1p f": [
        "sed -i s/a/b/ f",
        "sed 's/a/b/w x' f",
        "sed '1!e x y' f",
        "sed '/a/e x y' f",
        "sed e f",
        "sed -f x f",
    ],
    "awk '{print $1}' f": ["awk -v c=x 'BEGIN{system(c)}'", "awk '{print | c}' f", "awk '{print > f}' f", "awk -f x f"],
    "man ls": ["man -H'x y' ls", "man -Hx ls", "man -P x ls"],
    "bat f": ["bat --pager x f", "bat --pager='x y' f"],
    "psql -c 'select 1'": ["psql -c \"copy a to program 'x y'\"", "psql -c '\\! x'"],
    "ip addr": ["ip netns exec a x y"],
    "sort f": ["sort -o x f", "sort --output=x f", "sort --compress-prog=x f"],
    "tar tf f": ["tar tf f --use-compress-prog=x", "tar tf f --checkpoint-action=exec=x", "tar -Ix -tf f"],
    "find . -name a": ["find . -delete", "find . -fprint x", "find . -exec x y ;"],
    "npm test": ["npm test --script-shell=x", "npm test --prefix x", "npm test --node-options=x", "npm test -C x"],
    "make test": ["make SHELL=x test", "make -f x test", "make -C x test", "make --eval=x test"],
    "gcc a.c": ["gcc -wrapper x,y a.c", "gcc -fplugin=x a.c", "gcc -Bx a.c"],
    "curl u": ["curl -o x u", "curl -K x u"],
    "python3 --version": ["python3 --version -c 1", "python3 -m x"],
    "uv run sort f": ["uv run sort -o x f"],
}


@pytest.mark.parametrize("plain", READING_AND_MORE)
def test_a_pattern_for_a_program_does_not_cover_options_that_run_code_or_write(plain: str) -> None:
    begins = Rule(
        "approve", pattern=r"^uv run sort\b" if plain.startswith("uv") else rf"^{re.escape(plain.partition(' ')[0])}\b"
    )
    assert answer(plain, begins) == "approve"
    for line in READING_AND_MORE[plain]:
        assert answer(line, begins) is None, line


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (r"^sort -o \w+", "sort -o x f"),
        (r"^sort\b.*", "sort -o x f"),
        (r"^sed -i ", "sed -i s/a/b/ f"),
        (r"^git diff --output=", "git diff --output=x"),
        (r"^python3 -m (pytest|mypy)\b", "python3 -m pytest -x"),
        (r"^python3 -c\b", "python3 -c 1"),
        (r"^make -C sub\b", "make -C sub test"),
        (r"^uv run sort -o", "uv run sort -o x f"),
        (r"^sort\b", "sort -o /tmp/x f"),
        (r"^git rm\b", "git rm a"),
        (r"^mkdir\b", "mkdir a"),
        (r"^git switch\b", "git switch -c a"),
        (r"^npm test\b", "npm test -- --prefix x"),
    ],
)
def test_a_pattern_that_names_the_option_covers_it(pattern: str, line: str) -> None:
    assert answer(line, Rule("approve", pattern=pattern)) == "approve"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__fs__read_file", {"path": ".env", "note": "git push --force-with-lease"}),
        ("mcp__fs__read_file", {"note": ["git push --force-with-lease", {"a": "other"}]}),
        ("mcp__shell__run", {"command": "rm -rf x", "note": "git push --force-with-lease"}),
        ("mcp__shell__run", {"command": "git push --force-with-lease", "args": ["--force"]}),
        ("mcp__shell__run", {"command": "git push --force-with-lease", "env": {"GIT_PAGER": "rm x"}}),
        ("Bash", {"command": "git push --force-with-lease", "dangerouslyDisableSandbox": True}),
        ("Bash", {"command": "git push --force-with-lease", "shell": "/tmp/other"}),
        ("mcp__shell__run", {"command": ""}),
        ("mcp__none", {}),
    ],
)
def test_an_approval_needs_every_text_of_a_call_to_match(tool: str, given: dict[str, Any]) -> None:
    rule = Rule("approve", pattern=r"^git push --force-with-lease( origin [\w/-]+)?$")
    assert answer(call({"text": "git push --force-with-lease"}, "mcp__other"), rule) == "approve"
    assert answer(call(given, tool), rule) is None


def test_what_a_shell_is_told_besides_its_command_need_not_match() -> None:
    beside = {"description": "x", "timeout": 5, "run_in_background": True, "workdir": "/tmp", "sandbox": False}
    assert answer(call({"command": "git status", **beside}), APPROVED) == "approve"
    switched_off = call({"command": "git status", "unsandboxed": True})
    assert answer(switched_off, Rule("approve", pattern="^(git status|unsandboxed)$")) == "approve"


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        ({"path": "docs/a.md"}, True),
        ({"path": "/home/me/docs/a.md"}, True),
        ({"path": "/home/other/x", "content": "docs/a.md"}, False),
        ({"path": "/tmp/x", "file_path": "docs/a.md"}, False),
        ({"file_path": "docs/a.md", "paths": ["docs/a.md", "x"]}, False),
        ({"path": "docs/../x.md"}, False),
        ({"text": "docs/../../x.md"}, False),
        ({"path": "docs/a\0.md"}, False),
    ],
)
def test_an_approval_of_another_tool_needs_every_path_of_it(given: dict[str, Any], covered: bool) -> None:
    rule = Rule("approve", tool="write|Write", pattern=r"^docs/[\w./]+$")
    assert answer(call(given, "mcp__fs__write_file"), rule) == ("approve" if covered else None)
    own = {"content": "x", **given}
    assert answer(call(own, "WriteFile"), rule) == ("approve" if covered else None)


def test_a_patch_in_the_content_of_a_file_tool_needs_its_paths_to_match() -> None:
    rule = Rule("approve", pattern="^docs/")
    patch = "*** Begin Patch\n*** Update File: src/b\n*** End Patch"
    assert (
        answer(call({"input": patch.replace("src", "docs"), "file_path": "docs/b"}, "apply_patch"), rule) == "approve"
    )
    assert answer(call({"input": patch, "file_path": "docs/a"}, "apply_patch"), rule) is None


@pytest.mark.parametrize("tool", ["mcp__shell__run", "execute", "unified_exec", "shell_command", "PowerShell"])
def test_a_shell_line_is_read_whatever_the_tool_is_called(tool: str) -> None:
    assert answer(call("git status", tool), Rule("approve", pattern=r"^git (status|diff)\b")) == "approve"
    for line in ("git status; rm -rf x", "git status $(rm x)", "git status > x"):
        assert answer(call(line, tool), Rule("approve", pattern=r"^git (status|diff)\b")) is None
    denial = Rule("deny", pattern="^git push")
    lines: list[dict[str, Any]] = [
        {"command": "cd x && git push"},
        {"cmd": "cd x && git push"},
        {"command": ["bash", "-lc", "cd x; git push"]},
        {"command": "git", "args": ["push"]},
        {"steps": [{"script": "cd x; git push"}]},
    ]
    assert [answer(call(given, tool), denial) for given in lines] == ["deny"] * len(lines)
    assert answer(call("echo 'x git push'", tool), denial) is None


# ------------------------------------------------------------------ what a denial covers


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^pip install", ["python -m pip install x", "python3 -mpip install x", "python3 -Im pip install x"]),
        ("^pip install", ["uv pip install x", "uv run python -m pip install x", "py -m pip install x"]),
        ("^gh pr merge", ["gh pr -R a/b merge 1", "gh -R a/b pr merge 1", "gh pr --repo=a/b merge"]),
        ("^aws s3 rm", ["aws s3 --profile p rm x", "aws s3 --debug rm x", "aws --region r s3 --profile p rm x"]),
        ("^cargo publish", ["cargo +nightly publish", "cargo -q publish"]),
        ("^make deploy", ["make A=b deploy", "make A=b -j4 deploy", "gmake deploy"]),
        ("^sh x", ["/bin/s[h] x", "/*/s[h] x"]),
    ],
)
def test_a_denial_covers_other_names_and_options_between_subcommands(pattern: str, lines: list[str]) -> None:
    for line in lines:
        assert answer(line, Rule("deny", pattern=pattern)) == "deny", line


@pytest.mark.parametrize("line", ["gh pr view merge", "python -m x pip install", "git config alias.p pull && git p"])
def test_a_denial_does_not_cover_other_subcommands(line: str) -> None:
    assert answer(line, Rule("deny", pattern="^(gh pr merge|pip install|git push)")) is None


@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        " rm x ",
        "ls; rm x",
        "ls && rm x",
        "ls | rm x",
        "ls & rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "cat <(rm x)",
        "rm x > /dev/null",
        "! rm x",
        "f() { rm x; }; f",
        "while true; do rm x; done",
    ],
)
def test_a_denial_covers_any_line_that_holds_the_command(line: str) -> None:
    assert answer(line, DENIED, Rule("approve", tool="Shell")) == "deny"
    assert answer(line, Rule("deny", pattern="^rm ")) == "deny"


# A push, in every form that a person or a model might write it.
PUSHES = [
    *("git push", "  git push origin main", "git  push", "git\tpush", "git push&&ls", "ls;git push", "ls\ngit push"),
    *("make && git push", "make || git push", "make | git push", "make & git push", "git push &", "! git push"),
    *("time git push", "time -p git push", "coproc git push", "(git push)", "{ git push; }", "git push > log 2>&1"),
    *(
        "/usr/bin/git push",
        "./git push",
        "git.exe push",
        "'git' push",
        "g'i't pu\"sh\"",
        "git \\\n  push",
        "\\git push",
    ),
    *("git -C . push", "git --no-pager -c a=b push", "git -c a=b -C x --git-dir=y push", "git --work-tree x push"),
    *(
        "A=1 git push",
        "A=1 B=$(ls) git push",
        "env git push",
        "env A=1 git push",
        "env -i A=1 git push",
        "env -u A git push",
    ),
    *(
        "env -S 'git push'",
        "sudo git push",
        "sudo -u x git push",
        "sudo -E -H git push",
        "sudo A=1 git push",
        "doas git push",
    ),
    *(
        "sudo -i git push",
        "su -c 'git push'",
        "su - me -c 'git push'",
        "runuser -u me -- git push",
        "runuser -c 'git push'",
    ),
    *(
        "timeout 5 git push",
        "timeout -s KILL 5 git push",
        "nice git push",
        "nice -n 5 git push",
        "nohup git push",
        "setsid git push",
    ),
    *(
        "ionice -c3 git push",
        "stdbuf -oL git push",
        "strace -f git push",
        "flock lock git push",
        "flock lock -c 'git push'",
    ),
    *(
        "bash -c 'git push'",
        "sh -lc 'git push'",
        "bash -o pipefail -c 'ls; git push'",
        'zsh -c "git push"',
        "/bin/sh -c 'git push'",
    ),
    *(
        "bash -c 'sh -c \"git push\"'",
        "echo 'git push' | sh",
        "printf 'git push' | bash",
        "sh <<E\ngit push\nE",
        "bash <<< 'git push'",
    ),
    *("cat <<E | sh\ngit push\nE", "echo 'git push' > x; sh x", "source <(echo git push)", "bash -s <<E\ngit push\nE"),
    *(
        "eval git push",
        "eval 'git push'",
        "command git push",
        "command -p git push",
        "builtin command git push",
        "exec git push",
    ),
    *(
        "exec -a x git push",
        "echo $(git push)",
        'echo "$(git push)"',
        "echo `git push`",
        "cat <(git push)",
        "ls > >(git push)",
    ),
    *(
        "x=$(git push)",
        "f() { git push; }; f",
        'f() { git "$@"; }; f push',
        "if true; then git push; fi",
        "if git push; then ls; fi",
    ),
    *("for x in 1 2; do git push; done", "for x in pull push; do git $x; done", "while true; do git push; done"),
    *(
        "until git push; do sleep 1; done",
        "case $x in a) git push ;; esac",
        "x=git; $x push",
        "x=push; git $x",
        'x="git push"; $x',
    ),
    *('x=(git push); "${x[@]}"', "git ${x:-push}", "trap 'git push' EXIT", "alias p='git push'; p", "$'git' push"),
    *("echo push | xargs git", "xargs git push < x", "echo origin | xargs -n1 git push", "xargs -I{} git push {} < x"),
    *(
        "parallel git push ::: a b",
        "find . -exec git push \\;",
        "find . -name x -execdir git push {} +",
        "fd -x git push",
        "fd x . -X git push",
    ),
    *(
        "ssh host git push",
        "ssh -p 22 me@host 'cd x && git push'",
        "docker exec c git push",
        "docker exec -it c sh -c 'git push'",
    ),
    *(
        "docker run --rm -v .:/x image git push",
        "kubectl exec pod -- git push",
        "podman exec c git push",
        "docker compose exec web git push",
    ),
    *(
        "watch git push",
        "watch -n 5 'git push'",
        "npx -c 'git push'",
        "npm exec -- git push",
        "pnpm exec git push",
        "yarn exec git push",
    ),
    *(
        "uv run git push",
        "poetry run git push",
        "bundle exec git push",
        "script -qc 'git push' /dev/null",
        "tmux new -d 'git push'",
    ),
    *("python3 -c 'import os; os.system(\"git push\")'", "perl -e 'system(\"git push\")'", "ruby -e '`git push`'"),
    *('node -e \'require("child_process").execSync("git push")\'', "awk 'BEGIN { system(\"git push\") }'"),
    *(
        'python3 -c \'import subprocess; subprocess.run(["git", "push"])\'',
        "git -c alias.p=push p",
        "git -c alias.p='!git push' p",
    ),
    *(
        "git submodule foreach 'git push'",
        "git rebase -x 'git push' main",
        "busybox sh -c 'git push'",
        "at now <<< 'git push'",
    ),
    *(
        "echo '* * * * * git push' | crontab -",
        "make -f - <<E\nall:\n\tgit push\nE",
        "vim -c '!git push' x",
        "systemd-run git push",
    ),
]
PUSHES += [
    *("/usr/lib/git-core/git-push", "git-push", "git --attr-source HEAD push", "git --shallow-file x push"),
    *("$(command -v git) push", '"$(type -P git)" push', "git config alias.p push && git p origin"),
    *("git config --global alias.p push; git -C . p", "perl -e 'exec qw(git push)'", "ruby -e 'system(*%w[git push])'"),
    *("ssh-agent git push", "cargo watch -s 'git push'", "lerna exec -- git push", "nx exec -- git push"),
    *("tox exec -e a -- git push", "pixi run git push", "guix shell x -- git push", "flatpak-spawn --host git push"),
    *("steam-run git push", "devcontainer exec --workspace-folder . git push", "corepack git push"),
    *("rg --pre 'git push' x", "git clone -c core.sshCommand='git push' u", "sed '1!e git push' f"),
    *("psql -c \"copy a to program 'git push'\"", "sort --compress-prog='git push' f", "less '+!git push' f"),
]
NO_PUSHES = [
    *(
        "git status",
        "echo git push",
        "echo 'git push'",
        "git log --grep 'git push'",
        "git commit -m 'git push'",
        "# git push",
    ),
    *(
        "git pull",
        "git -c push.default=simple fetch",
        "grep -r 'git push' .",
        "cat git push",
        "command -v git push",
        "ls # git push",
    ),
    *(
        "printf 'git push' > notes",
        "git stash push",
        "git help push",
        "rg 'git push' docs",
        "git -C push status",
        "cat <<E\ngit push\nE",
    ),
]


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("line", PUSHES)
def test_a_denial_covers_a_command_in_every_form(line: str) -> None:
    """A deny rule covers a command in every form that the shell reader knows: `sudo`, `sh -c`, a path, a variable …"""
    assert answer(line, Rule("deny", tool="Shell", pattern=r"^git push\b")) == "deny"


@pytest.mark.parametrize("line", NO_PUSHES)
def test_a_denial_does_not_cover_a_mention_of_the_command(line: str) -> None:
    assert answer(line, Rule("deny", tool="Shell", pattern=r"^git push\b")) is None


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("kubectl -n prod delete pod x", "^kubectl delete"),
        ("kubectl --context=a --insecure -n prod delete pod x", "^kubectl delete"),
        ("npm --prefix x --silent publish", "^npm publish"),
        ("docker --debug -H tcp://x run image", "^docker run"),
        ("aws --profile a --region b s3 rm x", "^aws s3 rm"),
        ("python3.11 -c 1", "^python "),
        ("python3.11 -c 1", "^python3.11 "),
        ("/opt/x/terraform -chdir=a destroy", "^terraform destroy"),
    ],
)
def test_options_before_a_subcommand_and_the_path_of_a_program_do_not_count(line: str, pattern: str) -> None:
    assert answer(line, Rule("deny", pattern=pattern)) == "deny"


def test_a_program_with_its_arguments_is_denied_like_a_line() -> None:
    for words in (["git", "push"], ["bash", "-lc", "ls; git  push"]):
        assert answer(call({"command": words}), Rule("deny", pattern="^git push")) == "deny"


def test_a_denial_covers_what_was_read_before_a_line_becomes_unreadable() -> None:
    assert answer("sudo git push; echo 'oh", Rule("deny", pattern="^git push")) == "deny"


def test_a_line_of_a_megabyte_is_searched_in_time() -> None:
    line, rule = "sudo git push; " + "ls -l a b; " * 90_000, Rule("deny", pattern="^git push")
    assert answer(line, rule) == "deny"
    assert takes_less_than(1, lambda: answer(line, rule))


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize(
    "line",
    [
        *(
            "git diff *.py",
            "git diff a?",
            "git diff [ab]",
            "git diff {a,b}",
            "git diff {1..3}",
            "git diff ~/x",
            "git diff ~me",
        ),
        *(
            "git diff a=~/x",
            "git diff $HOME",
            'git diff "$HOME"',
            "git diff !(a)",
            'git diff $"x"',
            "git diff;",
        ),
        *(
            "git diff\0x",
            "git -c core.pager='rm x' diff",
            "git diff a |",
            "time git diff",
            "git diff\\ ",
        ),
    ],
)
def test_an_approval_does_not_cover_what_a_shell_expands_or_cannot_read(line: str) -> None:
    """An approve rule covers no line with an expansion, a redirection or a part that cannot be read."""
    assert answer(line, ANY_GIT) is None


@pytest.mark.parametrize(
    ("line", "pattern", "is_covered"),
    [
        ("uv run pytest -x", "^uv run (pytest|ruff)", True),
        ("uv run rm -rf x", "^uv run", False),
        ("timeout 5 git status", "^(timeout 5 )?git status", True),
        ("timeout 5 git status", "^timeout 5 git status$", True),
        ("timeout 5 rm x", "^timeout 5", False),
        ("bash -c 'git status'", "^bash -c 'git status'$", True),
        ("bash -c 'git status; rm x'", "^bash -c 'git status", False),
        ("bash -c 'timeout 5 rm x'", "^bash -c 'timeout 5", False),
        ("bash -c 'git status > x'", "^bash -c 'git status", False),
        ("bash -c 'git diff $x'", "^bash -c 'git diff", False),
        ("find . -exec rm x ;", "^find", False),
        ("find . -exec rm {} +", "^find", False),
        ("find . -name x", "^find", True),
        ("sudo git status", "git status", True),
        ("env rm -rf x", "^env", False),
        ("git grep 'foo$'", "^git grep", True),
        ("git log --format='%h {a,b} ~ *'", "^git log", True),
    ],
)
def test_an_approval_covers_a_program_that_another_runs_only_if_the_pattern_names_it(
    line: str, pattern: str, is_covered: bool
) -> None:
    assert (answer(line, Rule("approve", pattern=pattern)) == "approve") is is_covered


def test_an_exact_command_that_runs_another_is_approved() -> None:
    assert answer("timeout 5 make", Rule("approve", command="timeout 5 make")) == "approve"
    assert answer("find . -exec rm {} +", Rule("approve", command="find . -exec rm {} +")) is None


@pytest.mark.parametrize("line", ["Y=1 rm x", "ls; Y=1 Z=2 rm x", "Y=$(ls) rm x"])
def test_a_denial_is_not_passed_by_a_variable_before_the_command(line: str) -> None:
    assert answer(line, DENIED) == "deny"
    assert answer(line, Rule("deny", pattern="^rm ")) == "deny"


@pytest.mark.parametrize("line", ["echo 'rm x'", "echo rm x", "# rm x", "rm xy"])
def test_a_denial_leaves_other_commands_alone(line: str) -> None:
    assert answer(line, DENIED) is None


def test_a_denial_looks_into_lines_that_cannot_be_parsed() -> None:
    assert answer("rm x; echo 'oh", Rule("deny", pattern="rm x")) == "deny"


def test_rules_for_questions_are_met_like_denials() -> None:
    assert answer("ls; rm x", Rule("ask", command="rm x")) == "ask"


def test_a_command_that_is_no_text_is_never_approved() -> None:
    given = call({"command": ["git", "status"]})
    assert answer(given, APPROVED, ANY_GIT) is None
    assert answer(given, Rule("deny", pattern="git")) == "deny"


def test_an_expression_that_can_run_away_freezes_nobody() -> None:
    """Matching never freezes an agent (PROTOCOL 3); cut off, a denial holds and an approval does not."""
    code = """
        from tenterhook.approvals.requests import Call
        from tenterhook.approvals.rules import Rule, match
        line = Call("Shell", {"command": "a" * 40 + "!"}, "/")
        for answer in ("approve", "deny"):
            print(match([Rule(answer, pattern="(a+)+$")], line) is not None)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=20)
    assert ended.stdout.split() == ["False", "True"], ended.stderr


# ------------------------------------------------------------------ as the settings hold them


def test_rules_are_read_from_a_settings_file() -> None:
    found = [
        {"tool": "Shell", "command": "git status", "answer": "approve"},
        {"pattern": "x", "directory": "/home/me", "answer": "deny", "reason": "because"},
    ]
    assert rules.read(found, "config.toml") == [
        APPROVED._replace(source="config.toml"),
        Rule("deny", pattern="x", directory="/home/me", reason="because", source="config.toml"),
    ]
    assert rules.read(None, "config.toml") == rules.read([], "config.toml") == []


@pytest.mark.parametrize(
    ("found", "key"),
    [
        ({"tool": "Shell"}, "answer"),
        ({"answer": "aprove"}, "aprove"),
        ({"answer": "deny", "comand": "ls"}, "comand"),
        ({"answer": "deny", "command": 5}, "command"),
        ({"answer": True}, "answer"),
        ({"answer": "deny", "tool": "("}, "tool"),
        ({"answer": "deny", "pattern": "["}, "pattern"),
        ("deny everything", "rules"),
    ],
)
def test_a_rule_that_is_wrong_refuses_the_file_and_says_where(found: Any, key: str) -> None:
    with pytest.raises(HookError) as error:
        rules.read([{"answer": "ask"}, found], "config.toml")
    assert "config.toml" in error.value.message
    assert "rules[1]" in error.value.message
    assert key in error.value.message
    assert error.value.remedy


def test_rules_that_are_no_list_refuse_the_file() -> None:
    with pytest.raises(HookError, match=r"config\.toml.*not a list"):
        rules.read({"answer": "deny"}, "config.toml")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('[[approvals.rules]]\nanswer = "never"\n', "never"),
        ('[[approvals.rules]]\nanswer = "deny"\npattern = "("\n', "pattern"),
        ('approvals = "none"\n', "approvals"),
        ('[approvals]\nrules = "none"\n', "rules"),
        ("[[approvals.rules]\n", "config.toml"),
        ("\xff", "config.toml"),
        ('[agent]\nmodel = "x"\nmodell = "y"\n', "modell"),
        ('[agent]\nmode = "careless"\n', "careless"),
        ("[agent]\nmax_steps = true\n", "max_steps"),
        ("agent = 1\n", "agent"),
    ],
)
def test_settings_that_cannot_be_read_are_an_error(home: Path, text: str, word: str) -> None:
    """They may hold denials."""
    write_settings(home, text)
    with pytest.raises(HookError) as error:
        settings.load()
    assert word in error.value.message
    assert "config.toml" in error.value.message
    assert error.value.remedy


def test_the_agent_does_not_start_with_them(home: Path, project: Path) -> None:
    write_settings(home, '[[approvals.rules]]\nanswer = "never"\n')
    (project / "script.yaml").write_text("answers: [{text: Done.}]")
    ended = tenterhook("agent", "go", "--model", "scripted:script.yaml", stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "config.toml" in ended.stderr
    assert "never" in ended.stderr
    assert "Traceback" not in ended.stderr


def write_settings(home: Path, text: str) -> Path:
    file = home / ".config" / "tenterhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    return file


def test_a_rule_says_what_it_is_about() -> None:
    assert DENIED.said == "never"
    assert "git status" in APPROVED.said
    assert Rule("deny").said == "your rule for everything says: deny"


# ------------------------------------------------------------------ agents, expiry, where they stand


@pytest.mark.parametrize(
    ("agent", "expression", "matches"),
    [
        ("claude-code", "claude", True),
        ("claude-code", "^claude-code$", True),
        ("claude-code", "^(codex|gemini)$", False),
        ("agent", "^agent$", True),
    ],
)
def test_a_rule_may_be_for_one_agent(agent: str, expression: str, matches: bool) -> None:
    given = Call("Shell", {"command": "ls"}, "/tmp", agent=agent)
    assert (rules.match([Rule("deny", agent=expression)], given) is not None) is matches


@pytest.mark.parametrize(
    ("written", "is_over"),
    [
        ("2000-01-01", True),
        ('"2000-01-01"', True),
        ("2000-01-01T10:00:00Z", True),
        ('"2000-01-01T10:00:00+02:00"', True),
        ("2000-01-01 10:00:00", True),
        ("2100-01-01", False),
        ('"2100-01-01T10:00:00Z"', False),
        (str(date.today()), False),  # a day is over at its end
    ],
)
def test_a_rule_may_end(home: Path, written: str, is_over: bool) -> None:
    write_settings(home, f'[[approvals.rules]]\nanswer = "deny"\nexpires = {written}\n')
    found = settings.load().rules
    assert (rules.match(found, call("ls")) is None) is is_over


@pytest.mark.parametrize("written", ['"soon"', "10:00:00", "true", "[]", '"2000-13-01"', '""'])
def test_an_end_that_is_no_date_is_refused(home: Path, written: str) -> None:
    write_settings(home, f'[[approvals.rules]]\nanswer = "deny"\nexpires = {written}\n')
    with pytest.raises(HookError, match="expires"):
        settings.load()


def test_a_rule_that_is_over_leaves_the_next_one_to_match() -> None:
    over = Rule("deny", tool="Shell", expires=time.time() - 1)
    assert rules.match([over, APPROVED], call("git status")) == APPROVED


def test_rules_of_the_machine_come_first_and_any_denial_wins(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_files, "owned_by_root", lambda _: True)  # no test writes to /etc
    monkeypatch.setattr(configured, "MANAGED", str(tmp_path / "managed.toml"))
    (tmp_path / "managed.toml").write_text(
        '[[approvals.rules]]\nanswer = "ask"\ncommand = "make"\n'
        '[[approvals.rules]]\nanswer = "approve"\ncommand = "make x"\n'
    )
    write_settings(
        home,
        '[[approvals.rules]]\nanswer = "approve"\ncommand = "make"\n'
        '[[approvals.rules]]\nanswer = "deny"\ncommand = "make x"\n',
    )
    found = settings.load().rules
    first, denial = rules.match(found, call("make")), rules.match(found, call("make x"))
    assert first is not None
    assert denial is not None
    assert (first.answer, first.source) == ("ask", str(tmp_path / "managed.toml"))
    assert (denial.answer, denial.source) == ("deny", str(home / ".config/tenterhook/config.toml"))


def test_rules_of_the_machine_that_another_account_could_write_are_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "managed.toml"
    file.write_text('[[approvals.rules]]\nanswer = "approve"\n')
    file.chmod(0o666)
    monkeypatch.setattr(configured, "MANAGED", str(file))
    with pytest.raises(HookError, match="another account"):
        settings.load()


@pytest.mark.promise("another account")
def test_a_persons_rules_that_another_account_could_write_are_refused(home: Path) -> None:
    """Approval rules that another account could write approve nothing."""
    write_settings(home, '[[approvals.rules]]\nanswer = "approve"\n')
    assert rules.person() != []
    (home / ".config/tenterhook/config.toml").chmod(0o666)
    with pytest.raises(HookError, match="another account could change"):
        rules.person()


@pytest.mark.parametrize(("text", "is_any"), [("[agent]\n", False), ("[[approvals.rules]]\n", True), ("", False)])
def test_whether_there_are_rules_is_known_without_reading_them(home: Path, text: str, is_any: bool) -> None:
    assert not configured.is_any()
    write_settings(home, text)
    assert configured.is_any() is is_any


def test_an_approval_holds_where_the_command_begins_and_runs() -> None:
    rule = Rule("approve", tool="Shell", command="make", directory="/usr")
    there = Call("exec_command", {"command": "make"}, "/usr/lib")
    assert rules.match([rule], there) == rule
    assert rules.match([rule], there._replace(tool_input={"command": "make", "workdir": "/etc"})) is None
    denial = rule._replace(answer="deny")
    assert rules.match([denial], there._replace(tool_input={"command": "make", "workdir": "/etc"})) == denial


def test_of_several_directories_in_an_input_each_counts() -> None:
    """Agents differ in the key that they read, and a model may write them all."""
    two = Call("exec_command", {"command": "make", "workdir": "/usr/lib", "cwd": "/etc"}, "/usr")
    assert rules.match([Rule("approve", tool="Shell", command="make")], two) is None
    assert rules.match([Rule("approve", tool="Shell", directory="/usr")], two) is None
    denial = Rule("deny", directory="/etc")
    assert rules.match([denial], two) == denial


def test_a_patch_of_several_files_is_not_approved_by_a_rule_for_one_of_them() -> None:
    rule = Rule("approve", pattern=r"docs/")
    one = Call("apply_patch", {"input": "x", "file_path": "docs/a", "file_paths": ["docs/a"]}, "/tmp")
    assert rules.match([rule], one) == rule
    both = one._replace(tool_input={"input": "x", "file_path": "docs/a", "file_paths": ["docs/a", "src/b"]})
    assert rules.match([rule], both) is None
    assert rules.match([rule._replace(answer="deny")], both) is not None


# ------------------------------------------------------------------ which rule decides


def dry_run(*more: str, command: str = "git status", event: str = "permission-request") -> str:
    given = json.dumps({"command": command})
    ended = tenterhook("trigger", event, "--tool", "Shell", "--input", given, "--dry-run", *more)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_dry_run_says_which_rule_decides_and_where_it_stands(home: Path, project: Path) -> None:
    assert "rule" not in dry_run()  # there are none
    file = write_settings(
        home,
        '[[approvals.rules]]\nanswer = "approve"\ncommand = "git status"\n'
        '[[approvals.rules]]\nanswer = "deny"\ncommand = "git status"\nagent = "codex"\nreason = "not you"\n',
    )
    said = "rule: approve, your rule for command = 'git status' says: approve  (~/.config/tenterhook/config.toml)"
    assert said in dry_run()
    assert "rule: deny, not you" in dry_run("--agent", "codex")
    assert "rule: none matches" in dry_run(command="git status; rm x")
    told = json.loads(dry_run("--json", event="pre-tool-call"))["rule"]
    assert (told["answer"], told["source"]) == ("approve", str(file))
    assert "rule" not in dry_run(event="post-tool-call")


def test_a_dry_run_with_rules_that_cannot_be_read_says_so(home: Path, project: Path) -> None:
    write_settings(home, '[[approvals.rules]]\nanswer = "never"\n')
    ended = tenterhook("trigger", "permission-request", "--tool", "Shell", "--input", "{}", "--dry-run")
    assert ended.returncode == 1
    assert "never" in ended.stderr


@pytest.mark.parametrize("text", [b"a = ", b"\xff", b"a = " + b"9" * 5000, b"a = " + b"[" * 100_000])
def test_a_file_of_rules_that_cannot_be_read_is_an_error_with_a_remedy(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(text)
    with pytest.raises(HookError) as refused:
        rules.settings(str(tmp_path / "config.toml"))
    assert "fix it" in refused.value.remedy


@pytest.mark.parametrize("said", ["approve", "deny", "ask"])
@pytest.mark.parametrize("tool", ["mcp__github__create", "mcp:github/create"])
def test_a_rule_names_the_tools_of_an_mcp_server_in_every_agent(said: str, tool: str) -> None:
    assert answer(call({}, tool), Rule(said, tool="^mcp:github/")) == said
    assert answer(call({}, tool), Rule(said, tool="^mcp__github__create$")) == said
    assert answer(call({}, tool), Rule(said, tool="^mcp:git/")) is None


def test_where_a_name_can_be_read_in_two_ways_a_rule_must_cover_both_to_approve() -> None:
    readings = ["mcp:docs-evil/read", "mcp:docs/evil-read"]
    asked = call({}, "docs-evil-read")._replace(more={"mcp_names": readings})
    assert answer(asked, Rule("deny", tool="^mcp:docs/")) == "deny"
    assert answer(asked, Rule("ask", tool="^mcp:docs/")) == "ask"
    assert answer(asked, Rule("approve", tool="^mcp:docs/")) is None
    assert answer(asked, Rule("approve", tool="^mcp:docs")) == "approve"
    assert answer(asked, Rule("approve", tool="^docs-evil-read$")) == "approve"


@pytest.mark.parametrize("key", ["command", "cmd", "script"])
def test_rules_for_the_shell_are_for_a_named_tool_too(key: str) -> None:
    """A tool of one's own that counts as the shell, whatever its parameter is called."""
    own = call({key: "git push"}, "run_it")
    named = own.with_kind({"run_it": "Shell"})
    deny, approve = (
        Rule("deny", tool="^Shell$", pattern="git push"),
        Rule("approve", tool="^Shell$", command="git push"),
    )
    assert (answer(own, deny), answer(named, deny), answer(named, approve)) == (None, "deny", "approve")
    assert answer(named._replace(tool_input={key: "git push; ls"}), approve) is None
    assert named.display == {"kind": "command", "command": "git push", "cwd": "/home/me"}
    assert presenter.summary(named) == "git push"
