"""Which hub of this machine commands are about, also one that listens to other machines and names no person here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hub import hubs
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

_ISOLATED = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]  # no other machine reaches it there


def _has_namespaces() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run([*_ISOLATED, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _has_namespaces(), reason="no network namespace of our own is permitted here")
@pytest.mark.parametrize(("listen", "local"), [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]")])
def test_a_hub_that_listens_on_all_addresses_is_found(home: Path, listen: str, local: str) -> None:
    command = f"{sys.executable} -m tenterhook hub"
    lines = [
        f"{command} start --listen '{listen}:7719'",
        f"{command} start",
        f"{command} share",
        f"{command} stop",
        f"{command} share",
    ]
    script = "\n".join(f'{line} 2>&1; echo "status $?"' for line in lines)
    ended = subprocess.run(
        [*_ISOLATED, "sh", "-c", script], capture_output=True, text=True, env=os.environ, timeout=120, check=False
    )
    first, second, shared, stopped, after, _ = ended.stdout.split("status ")
    assert f"hub     http://{listen}:7719" in first
    assert f"hub     http://{listen}:7719" in second, ended.stdout
    assert "it was already running" in second
    assert f"hub http://{local}:7719" in shared
    assert "no phone can sign in: it was given no --public-url" in shared
    assert shlex.join(["--listen", f"{listen}:7719", "--public-url"]) in shared
    assert "the hub has stopped" in stopped
    assert f"no hub answers on this machine: http://{local}:7719" in after
    assert [part[0] for part in (second, shared, stopped, after)] == ["0", "0", "1", "0"]


def test_the_hub_that_was_started_last_is_meant_and_this_account_is_who_it_says(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub") as hub:
        file = tmp_path / "hub/.local/state/tenterhook/hub/person.json"
        person = file.read_text()
        assert hub.person_file["url"] == hub.url
        file.write_text(person.replace(hub.url, "http://127.0.0.1:1"))  # of a hub that ended
        shared = tenterhook("hub", "share", env=hub.environment)
        assert f"hub {hub.url}" in shared.stdout, shared.stderr
        file.write_text(person.replace(hub.url, "https://hub.example.org"))  # signed in elsewhere
        assert f"hub {hub.url}" in tenterhook("hub", "share", env=hub.environment).stdout
    ended = tenterhook("hub", "share", env=hub.environment)
    assert "you are signed in at https://hub.example.org, which is not on this machine" in ended.stderr
    file.unlink()
    assert "no hub answers on this machine" in tenterhook("hub", "share", env=hub.environment).stderr
