"""Programs that run other programs: the reader finds the command in every form."""

from __future__ import annotations

import pytest

from shell.forms import FORMS, MENTIONS
from tenterhook.shell import programs, reader
from tenterhook.shell.programs import git_options, nested_commands, program
from tenterhook.shell.syntax import UNKNOWN, decoded

HOME = "/home/me"
PROJECT = "/home/me/project"


def words_of(line: str) -> list[list[str]]:
    reading = reader.read(line, PROJECT, {"HOME": HOME})
    return [[decoded(word) for word in command.words] for command in reading.commands if command.words]


@pytest.mark.parametrize("line", FORMS)
def test_the_command_is_found_in_every_form(line: str) -> None:
    found = [words[git_options(words)[1] :][:2] for words in words_of(line) if program(words[0]) == "git"]
    assert ["push", "--force"] in found, words_of(line)


@pytest.mark.parametrize("line", MENTIONS)
def test_a_mention_of_a_command_is_no_command(line: str) -> None:
    assert "git" not in [program(words[0]) for words in words_of(line)], words_of(line)


def test_a_commit_message_is_no_command() -> None:
    lines = [
        'git commit -m "git push --force"',
        "git commit -F - <<'E'\ngit push --force\nE",
        "git log --grep='git push'",
    ]
    assert all(len(words_of(line)) == 1 for line in lines)


@pytest.mark.parametrize(
    ("line", "through"),
    [
        ("git push", ()),
        ("sudo git push", ("sudo",)),
        ("sudo env A=b nice git push", ("sudo", "env", "nice")),
        ("sudo sh -c 'timeout 5 git push'", ("sudo", "sh", "timeout")),
        ("find . -exec git push \\;", ("find",)),
    ],
)
def test_the_programs_that_run_a_command_are_named_outermost_first(line: str, through: tuple[str, ...]) -> None:
    command = reader.read(line, PROJECT, {"HOME": HOME}).commands[-1]
    assert command.name == "git"
    assert command.through == through


@pytest.mark.parametrize(
    ("line", "directory"),
    [
        ("sudo -D /tmp ls", "/tmp"),
        ("sudo --chdir=sub ls", f"{PROJECT}/sub"),
        ("sudo -i ls", HOME),
        ("sudo -D /tmp -i ls", "/tmp"),
        ("env -C/tmp ls", "/tmp"),
        ("env --chdir /tmp ls", "/tmp"),
        ("env -iC /tmp ls", "/tmp"),
        ("env - ls", PROJECT),
        ("env -C /tmp env -C sub ls", "/tmp/sub"),
        ("uv run --directory /tmp ls", "/tmp"),
        ("env -C /tmp -S 'ls -l'", "/tmp"),
        ("cd /tmp && ls", "/tmp"),
        ("(cd /tmp); ls", PROJECT),
        ("cd sub; cd ..; ls", PROJECT),
        ("pushd /tmp; ls", "/tmp"),
        ("ssh host ls", HOME),
        ("docker exec web ls", "/"),
    ],
)
def test_a_command_has_the_directory_in_which_it_runs(line: str, directory: str) -> None:
    command = [each for each in reader.read(line, PROJECT, {"HOME": HOME}).commands if each.name == "ls"][-1]
    assert command.directory == directory


@pytest.mark.parametrize(
    "line",
    [
        "ssh host ls",
        "ssh host 'cd /srv && ls'",
        "ssh -p 22 me@host sudo ls",
        "ssh host <<< ls",
        "sshpass -p x ssh host ls",
        "mosh host -- ls",
        "docker exec web ls",
        "docker compose exec web sh -c ls",
        "kubectl exec pod -- ls",
        "kubectl run x --image=y -- ls",
        "oc rsh pod ls",
        "adb shell ls",
        "vagrant ssh -c ls",
        "gcloud compute ssh vm --command=ls",
        "fly ssh console -C ls",
        "heroku run ls",
        "lxc exec box -- ls",
    ],
)
def test_a_command_on_another_machine_is_remote(line: str) -> None:
    first, *_, last = reader.read(line, PROJECT, {"HOME": HOME}).commands
    assert (first.is_remote, last.name, last.is_remote) == (False, "ls", True)


@pytest.mark.parametrize("line", ["sudo ls", "ssh -o ProxyCommand=ls host true", "docker run alpine ls", "chroot / ls"])
def test_other_commands_are_not_remote(line: str) -> None:
    found = [each for each in reader.read(line, PROJECT, {"HOME": HOME}).commands if each.name == "ls"]
    assert [each.is_remote for each in found] == [False]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("find d -exec chmod -R 777 {} +", ["chmod", "-R", "777", "d"]),
        ("find d -name x -exec chmod 777 {} \\;", ["chmod", "777", f"d/{UNKNOWN}"]),
        ("find d -type f -print0 | xargs -0 chmod 777", ["chmod", "777", "d"]),
        ("find d e -print0 | xargs -0 chmod 777", ["chmod", "777", "d", "e"]),
        ("find d -exec sh -c 'chmod 777 \"$1\"' _ {} \\;", ["chmod", "777", "d"]),
        ("find d -exec sh -c 'for f; do chmod 777 \"$f\"; done' _ {} +", ["chmod", "777", "d"]),
    ],
)
def test_what_find_finds_is_an_argument(line: str, words: list[str]) -> None:
    found = [each for each in reader.read(line, PROJECT, {"HOME": HOME}).commands if each.name == "chmod"]
    assert [(each.words, each.is_certain) for each in found] == [(words, False)]


def test_what_find_finds_is_written_to_by_xargs() -> None:
    line = 'find . -type f -print0 | xargs -0i sh -c "cat /dev/null > \\"{}\\""'
    (command,) = [each for each in reader.read(line, PROJECT, {"HOME": HOME}).commands if each.name == "cat"]
    assert (command.redirects, command.through) == ([(">", ".")], ("xargs", "sh"))


def test_of_several_commands_that_a_program_runs_each_is_run_by_it() -> None:
    commands = reader.read("parallel rm ::: a b", PROJECT, {}).commands[1:]
    assert [(each.words, each.through) for each in commands] == [
        (["rm", "a"], ("parallel",)),
        (["rm", "b"], ("parallel",)),
    ]


def test_a_dry_run_runs_nothing() -> None:
    assert words_of("parallel --dry-run rm ::: a") == [["parallel", "--dry-run", "rm", ":::", "a"]]


def test_no_command_runs_nothing() -> None:
    assert nested_commands([], None) == []


def test_arguments_that_come_from_elsewhere_are_unknown() -> None:
    assert words_of("cat f | xargs rm")[-1] == ["rm", UNKNOWN]
    assert words_of("fd -x rm")[-1] == ["rm", UNKNOWN]
    assert words_of("find . -name x -exec rm {} +")[-1] == ["rm", f"./{UNKNOWN}"]


def test_of_many_arguments_that_come_from_elsewhere_the_rest_is_unknown() -> None:
    names = " ".join(f"f{number}" for number in range(2000))
    found = words_of(f"echo {names} | xargs rm")[-1]
    assert found[:2] == ["rm", "f0"]
    assert found[-1] == UNKNOWN


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("/usr/bin/git", "git"),
        ("git.exe", "git"),
        ("GIT", "git"),
        ("python3.11", "python"),
        ("grm", "rm"),
        ("g++", "g++"),
    ],
)
def test_a_program_has_one_name_however_it_is_spelt(word: str, name: str) -> None:
    assert program(word) == name


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("git -C . -c a=b push -f", ["-C . -c a=b push -f", "push -f"]),
        ("kubectl -n prod delete", ["-n prod delete", "prod delete", "delete"]),
        ("npm --silent publish", ["--silent publish", "publish"]),
        ("aws --profile=a s3", ["--profile=a s3", "s3"]),
        ("ls -l", ["-l"]),
    ],
)
def test_the_arguments_from_a_subcommand_on_are_those_without_the_options_before_it(
    line: str, arguments: list[str]
) -> None:
    assert [" ".join(words) for words in programs.from_subcommand(line.split())] == arguments
