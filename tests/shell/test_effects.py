"""What commands do to files."""

from __future__ import annotations

import pytest

from tenterhook.shell import reader
from tenterhook.shell.effects import effects
from tenterhook.shell.syntax import decoded


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rm a b", {("delete", "a"), ("delete", "b")}),
        ("rm -- -a", {("delete", "-a")}),
        ("rmdir a", {("delete", "a")}),
        ("mv a b", {("move", "a"), ("write", "b"), ("write", "b/a")}),
        ("mv -t d a", {("move", "a"), ("write", "d"), ("write", "d/a")}),
        ("cp -r a b", {("write", "b"), ("write", "b/a")}),
        ("ln -s a b", {("write", "b"), ("write", "b/a")}),
        ("tee -a a b", {("write", "a"), ("write", "b")}),
        ("echo x > a", {("write", "a")}),
        ("echo x >> a 2> b", {("write", "a"), ("write", "b")}),
        ("cat < a", set()),
        ("sed -i s/a/b/ f g", {("write", "f"), ("write", "g")}),
        ("sed s/a/b/ f", set()),
        ("dd if=a of=b", {("write", "b")}),
        ("chmod -R 755 a", {("mode", "a")}),
        ("find a -delete", {("delete", "a")}),
        ("find a -exec rm {} +", {("delete", "a")}),
        ("curl -o a https://example.com", {("write", "a")}),
        ("tar -xf a -C b", {("write", "b")}),
        ("tar czf a b", {("write", "a")}),
        ("git rm -r a", {("delete", "a")}),
        ("rsync a/ b", {("write", "b"), ("write", "b/a")}),
        ("rsync --delete a/ b", {("delete", "b")}),
        ("rsync a host:b", set()),
        ("rsync -an --delete a/ b", set()),
        ("scp a host:b", set()),
        ("install -d a b", {("write", "a"), ("write", "b")}),
        ("install -m 600 a b", {("write", "b"), ("write", "b/a")}),
        ("prettier a", set()),
        ("prettier --write a", {("write", "a")}),
        ("ruff format a", {("write", "a")}),
        ("ruff format --check a", set()),
        ("ruff check a", set()),
        ("docker cp box:/a b", {("write", "b"), ("write", "b/a")}),
        ("docker cp a box:/b", set()),
        ("wget -o log 'https://example.com/a?b'", {("write", "a"), ("write", "log")}),
        ("curl https://example.com/a", set()),
        ("git -C d rm -f a", {("delete", "a")}),
        ("truncate -s 0 a", {("write", "a")}),
        ("shred -u a", {("delete", "a")}),
        ("sed -Ei s/a/b/ f", {("write", "f")}),
        ("sed -E s/a/b/ i", set()),
        ("sed --in-pl s/a/b/ f", {("write", "f")}),
        ("rename a b c", {("move", "a"), ("move", "b"), ("move", "c")}),
        ("strace -o a ls -o b", {("write", "a")}),
        ("script -c ls a", {("write", "a")}),
        ("7z x a.7z -ob", {("write", "b")}),
        ("sqlite3 a '.once b'", {("write", "b")}),
        ("python3 -m zipfile -e a b", {("write", "b")}),
        ("rsync --log-file=a b host:c", {("write", "a")}),
        ("git clean -fdx a", {("delete", "a")}),
        ("git clean -nd a", set()),
        ("sudo -e a b", {("write", "a"), ("write", "b")}),
        ("sudo ls -e a", set()),
        ("ls a", set()),
        ("echo rm a", set()),
    ],
)
def test_a_command_has_effects_on_paths(line: str, expected: set[tuple[str, str]]) -> None:
    command = reader.read(line, "/home/me/project", {"HOME": "/home/me"}).commands[0]
    assert {(effect.kind, decoded(effect.path)) for effect in effects(command)} == expected


def test_deleting_a_directory_is_recursive() -> None:
    def recursive(line: str) -> bool:
        return effects(reader.read(line, "/", {}).commands[0])[0].recursive

    assert recursive("rm -rf a")
    assert recursive("rm --recursive a")
    assert not recursive("rm -f a")
