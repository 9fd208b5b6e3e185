"""`stay-in-project`: changes stay in the project, temporary directories, caches and named directories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.guards import stay_in_project
from tenterhook.guards.calls import ASK, DENY, GuardedCall

if TYPE_CHECKING:
    from pathlib import Path

WORK_DIR = "/home/dev/work/project"
ENVIRONMENT = {"HOME": "/home/dev", "PATH": "/usr/bin:/bin", "PWD": WORK_DIR}

REFUSED = """
    echo x > /etc/hosts
    echo x | sudo tee -a /etc/hosts
    sudo cp app /usr/local/bin/
    rm -rf /opt/app
    sudo sed -i s/a/b/ /etc/ssh/sshd_config
    echo alias >> ~/.bashrc
    cp zshrc ~/.zshrc
    mkdir -p ~/.config/app
    rm -rf ~/.vim
    cd / && touch etc/x
    cd ~ && rm .profile
    chmod 777 /var/lib/app
    chmod 700 /etc
    chmod 644 ~/.ssh/id_rsa
    chmod 777 ~/.ssh/config 600
    chmod --reference=x 600 ~/.ssh/config
    chmod u+x,go-w ~/.bashrc
    curl -o /usr/bin/tool https://example.com/tool
    tar xf x.tgz -C /opt
    bash -c 'echo x > /etc/motd'
    docker run -v /etc:/host alpine rm /host/passwd
    ln -s $PWD/app /usr/local/bin/app
    echo x > /etc/$NAME
    find /etc -name '*.bak' -delete
"""
ASKED = """
    echo x > ../other.txt
    rm -rf ../sibling/src
    cp README.md ~/Documents/
    mv src ~/src
    mkdir ~/new-project
    cd .. && rm -rf sibling
    git -C ../sibling commit -am x
    git -C ../sibling commit -m "do not add -n"
    git -C ../sibling stash
    cd ../sibling && git reset --hard
    git clone https://example.com/x.git ../x
    git worktree add ../wt
    rsync -a ./ /mnt/backup/
    dd if=a of=/mnt/x.img
    touch /home/other/x
    patch ../sibling/a.py < x.diff
    gofmt -w ../sibling/a.go
    prettier --write ../sibling
    black ../sibling
    ruff format ../sibling
    ruff check --fix ../sibling
    clang-format -i ../sibling/a.c
    rustfmt ../sibling/a.rs
    eslint --fix ../sibling
    dos2unix ../sibling/a
    gcc a.c -o ../a
    go build -o ../a .
    split big ~/part
    docker cp web:/var/log ~/logs
    ffmpeg -i a.mp4 ../b.mp4
    sqlite3 ~/other/x.db 'drop table a'
    mktemp -p ..
    find .. -name '*.o' -delete
"""
PASSED = """
    echo x > out.txt
    rm -rf build
    mkdir -p src/a && touch src/a/b
    cp /etc/hosts ./hosts
    cat /etc/passwd ~/.bashrc ../sibling/x
    cd src && rm ../README.md
    make > /dev/null 2>&1
    echo x > /dev/stderr
    echo x > /tmp/x && rm -rf /tmp/y
    mktemp -d
    mktemp -p /tmp
    gofmt -l ../sibling
    prettier --check ../sibling
    black --check ../sibling
    black .
    ruff check ../sibling
    clang-format ../sibling/a.c
    eslint ../sibling
    gcc -o a ../sibling/a.c
    go build -o a ../sibling
    split ~/big
    docker cp ../sibling/x web:/x
    ffmpeg -i ../a.mp4 b.mp4
    sqlite3 ~/other/x.db 'select 1'
    find .. -name '*.o'
    find . -name '*.o' -delete
    chmod 600 ~/.ssh/config
    chmod -R go-rwx ~/.ssh
    rm -rf ~/.cache/pip
    git commit -am x
    git clone https://example.com/x.git vendor/x
    git clone https://example.com/x.git
    git -C ../sibling log
    git -C ../sibling clean -ndx
    git -C ../sibling stash list
    git -C ../sibling apply --check a.patch
    cd ../sibling && git status
    rsync -a host:/x ./x
    scp a host:/etc/x
    ssh host 'rm -rf /srv/app'
    docker run alpine rm -rf /etc
    docker run -v $PWD:/w alpine rm -rf /w/build
    for f in *.txt; do mv "$f" "${f%.txt}.md"; done
    rm "$FILE"
    cp a "$DEST/b"
    tar xf x.tgz
    npm install
    ls /etc
    find / -name x
    echo 'rm -rf /etc'
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def judged(line: str, work_dir: object = WORK_DIR, **settings: Any) -> str | None:
    found = stay_in_project.judge(GuardedCall("Shell", {"command": line}, str(work_dir), ENVIRONMENT, settings))
    return found.decision if found else None


def of_tool(name: str, work_dir: object = WORK_DIR, **tool_input: Any) -> str | None:
    found = stay_in_project.judge(GuardedCall(name, tool_input, str(work_dir), ENVIRONMENT))
    return found.decision if found else None


@pytest.mark.parametrize("line", lines(REFUSED))
def test_changing_the_system_or_settings_of_the_home_is_refused(line: str) -> None:
    assert judged(line) == DENY


@pytest.mark.parametrize("line", lines(ASKED))
def test_changing_something_else_outside_is_asked_about(line: str) -> None:
    assert judged(line) == ASK


@pytest.mark.parametrize("line", lines(PASSED))
def test_changes_inside_and_reading_anywhere_pass(line: str) -> None:
    assert judged(line) is None


@pytest.mark.parametrize(("source", "target"), [("from", "to"), ("src", "dst"), ("source", "destination")])
def test_a_tool_that_moves_files_is_judged_by_both_paths(source: str, target: str) -> None:
    assert of_tool("mcp__fs__move_file", **{source: "a", target: "/home/dev/other/b"}) == ASK
    assert of_tool("mcp__fs__move_file", **{source: "/home/dev/other/b", target: "a"}) == ASK
    assert of_tool("mcp__fs__copy_file", **{source: "/home/dev/other/b", target: "a"}) is None
    assert of_tool("mcp__fs__move_file", **{source: "a", target: "b"}) is None


def test_further_directories_count_as_the_project() -> None:
    assert judged("touch ../sibling/x ~/notes/y", directories=["../sibling", "~/notes"]) is None
    assert judged("touch ../sibling/x", directories=["~/notes"]) == ASK
    assert judged("echo x > /etc/app/config", directories=["/etc/app"]) is None


def test_the_temporary_directory_of_the_environment_is_allowed() -> None:
    call = GuardedCall("Shell", {"command": "touch /scratch/x"}, WORK_DIR, {**ENVIRONMENT, "TMPDIR": "/scratch/"})
    assert stay_in_project.judge(call) is None
    assert judged("touch /scratch/x") == ASK


def test_a_link_does_not_lead_outside(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert judged("echo x > link/hosts", tmp_path) == DENY
    assert of_tool("WriteFile", tmp_path, file_path="link/hosts", content="") == DENY
    assert judged("rm link", tmp_path) is None


@pytest.mark.parametrize("key", ["file_path", "path", "absolute_path", "filePath", "target_file", "notebook_path"])
@pytest.mark.parametrize("tool", ["WriteFile", "Write", "write_file", "create", "Edit", "replace", "StrReplaceFile"])
def test_the_file_tools_of_every_agent_are_looked_at(tool: str, key: str) -> None:
    assert of_tool(tool, **{key: "~/.bashrc"}) == DENY
    assert of_tool(tool, **{key: "../sibling/a.py"}) == ASK
    assert of_tool(tool, **{key: "src/a.py", "content": "rm -rf /etc"}) is None


def test_patches_and_tools_of_other_servers_are_looked_at() -> None:
    patch = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"
    assert of_tool("apply_patch", input=patch.format("/etc/x")) == DENY
    assert of_tool("apply_patch", input=patch.format("src/x")) is None
    assert of_tool("mcp__files__move_file", source="/home/dev/x", destination="src/x") == ASK
    assert of_tool("mcp__files__copy_file", source="/home/dev/x", destination="src/x") is None
    assert of_tool("mcp__files__copy_file", source="src/x", destination="/home/dev/x") == ASK


@pytest.mark.parametrize("path", ["/etc/a\0b", "/etc/\ud800", "x\0", "\ud800/x"], ids=ascii)
def test_a_path_that_no_system_call_takes_does_not_end_the_guard(path: str) -> None:
    assert of_tool("Write", file_path=path) == (DENY if path[0] == "/" else None)


def test_reading_tools_pass() -> None:
    assert of_tool("ReadFile", file_path="/etc/hosts") is None
    assert of_tool("Grep", pattern="x", path="/etc") is None


def test_the_reason_names_the_part_the_place_the_rule_and_another_way() -> None:
    found = stay_in_project.judge(GuardedCall("Shell", {"command": "make; echo x >> ~/.zshrc"}, WORK_DIR, ENVIRONMENT))
    assert found is not None
    assert found.reason == (
        "`echo x >> ~/.zshrc`: it changes settings in the home directory (/home/dev/.zshrc) [dotfiles]. Instead: write "
        "inside the project or in a temporary directory, and tell the user what should go elsewhere."
    )


def test_rules_may_be_off_or_ask() -> None:
    assert judged("echo x >> ~/.bashrc", allow=["dotfiles"]) is None
    assert judged("echo x > /etc/x", ask=["system"]) == ASK


def test_a_home_below_a_temporary_directory_is_no_temporary_directory() -> None:
    environment = {"HOME": "/tmp/home", "PATH": "/bin"}
    call = GuardedCall("Shell", {"command": "touch ~/.profile"}, "/tmp/home/project", environment)
    found = stay_in_project.judge(call)
    assert found is not None
    assert found.decision == DENY
    assert stay_in_project.judge(call._replace(tool_input={"command": "touch /tmp/x x"})) is None
