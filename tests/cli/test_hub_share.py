"""`tenterhook hub share`: what is looked at, what is left to do, and a code only if a phone can use it."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

import qr_codes
from hub import hubs
from hub_client import relays
from support import free_port, tenterhook
from tenterhook.hub import accounts

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

ADDRESS = "127.0.0.2"  # of this machine, and for us as good as any other


@pytest.fixture(scope="module")
def local_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


def share(hub: hubs.Hub, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return tenterhook("hub", "share", *words, env={**hub.environment, **variables})


def shared(hub: hubs.Hub, *words: str, **variables: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(share(hub, *words, "--json", **variables).stdout)
    return found


def with_tailscale(folder: Path, script: str) -> dict[str, str]:
    """A PATH with a Tailscale that says this."""
    program = folder / "bin" / "tailscale"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


def test_without_a_hub_it_says_how_to_start_one(home: Path) -> None:
    ended = tenterhook("hub", "share")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "this account has no hub running on this machine" in ended.stderr
    assert "tenterhook hub start" in ended.stderr


def test_a_hub_of_this_machine_only_gets_three_ways_and_no_code(local_hub: hubs.Hub) -> None:
    ended = share(local_hub)
    assert ended.returncode == 1
    assert "no phone can reach it" in ended.stdout
    for way in ("Tailscale", "A reverse proxy", "A tunnel"):
        assert way in ended.stdout
    port = local_hub.url.rpartition(":")[2]
    assert f"tailscale serve --bg {port}" in ended.stdout
    assert "enter#" not in ended.stdout
    assert "█" not in ended.stdout


@pytest.mark.parametrize(
    ("script", "what", "remedy"),
    [
        ("echo 'failed to connect to local tailscaled' >&2; exit 1", "it is not up: failed to connect", "tailscale up"),
        ('echo \'{"BackendState": "NeedsLogin"}\'', "it is not up: NeedsLogin", "tailscale up"),
        ('echo \'{"BackendState": "Running", "CertDomains": null}\'', "no name with a certificate", "MagicDNS"),
        (
            'echo \'{"BackendState": "Running", "CertDomains": ["laptop.invalid"]}\'',
            "https://laptop.invalid: ",
            "does it point to",
        ),
    ],
)
def test_what_tailscale_lacks_is_said_with_what_to_do(
    local_hub: hubs.Hub, tmp_path: Path, script: str, what: str, remedy: str
) -> None:
    found = shared(local_hub, **with_tailscale(tmp_path, script))
    (way,) = [way for way in found["ways"] if way["name"] == "tailscale"]
    wrong = [check for check in way["checks"] if not check["ok"]]
    assert len(wrong) == 1
    assert what in wrong[0]["what"]
    assert remedy in wrong[0]["remedy"]
    assert found["link"] is None


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("http://hub.example.org", "has no TLS"),
        ("https://127.0.0.1:1", "an address of this machine only"),
        (f"https://{ADDRESS}:1", "Connection refused"),
    ],
)
def test_an_address_that_a_phone_cannot_use_is_refused(local_hub: hubs.Hub, url: str, what: str) -> None:
    found = shared(local_hub, url)
    (check,) = found["checks"]
    assert (check["ok"], what in check["what"]) == (False, True), check
    assert found["link"] is None


def test_what_is_no_address_is_said(local_hub: hubs.Hub) -> None:
    ended = share(local_hub, "hub.example.org")
    assert ended.returncode == 1
    assert "not the address of a hub" in ended.stderr


def test_a_certificate_that_nobody_vouches_for_is_not_shared(local_hub: hubs.Hub, tmp_path: Path) -> None:
    certificate, key = relays.certificate(tmp_path, f"IP:{ADDRESS}")
    with relays.with_tls(int(local_hub.url.rpartition(":")[2]), certificate, key, ADDRESS) as url:
        (check,) = shared(local_hub, url)["checks"]
        assert "certificate" in check["what"]
        first, second = shared(local_hub, url, SSL_CERT_FILE=str(certificate))["checks"]
    assert first["ok"]
    assert "does not know that this is its address" in second["what"]
    assert f"--public-url {url}" in second["remedy"]


def test_another_hub_at_the_address_is_not_shared(local_hub: hubs.Hub, tmp_path: Path) -> None:
    certificate, key = relays.certificate(tmp_path, f"IP:{ADDRESS}")
    port = free_port()
    with relays.with_tls(int(port), certificate, key, ADDRESS) as url:
        options = ("--listen", f"127.0.0.1:{port}", "--public-url", url)
        with hubs.running(tmp_path / "other", *options):
            *_, check = shared(local_hub, url, SSL_CERT_FILE=str(certificate))["checks"]
    assert check["what"] == "another server answers there, not this hub"


def test_a_proxy_that_does_not_say_tls_is_named_with_what_to_do(tmp_path: Path) -> None:
    certificate, key = relays.certificate(tmp_path, f"IP:{ADDRESS}")
    port = free_port()
    with relays.with_tls(int(port), certificate, key, ADDRESS, added=b"") as url:
        options = ("--listen", f"127.0.0.1:{port}", "--public-url", url)
        with hubs.running(tmp_path / "hub", *options) as hub:
            found = shared(hub, SSL_CERT_FILE=str(certificate))
    *before, check = found["checks"]
    assert all(each["ok"] for each in before)
    assert "does not say that TLS was used" in check["what"]
    assert "X-Forwarded-Proto" in check["remedy"]
    assert found["link"] is None


@pytest.mark.slow
def test_the_code_signs_in_a_person_at_the_address_once(tmp_path: Path) -> None:
    certificate, key = relays.certificate(tmp_path, f"IP:{ADDRESS}")
    port, variables = free_port(), {"SSL_CERT_FILE": str(certificate)}
    with relays.with_tls(int(port), certificate, key, ADDRESS) as url:
        options = ("--listen", f"127.0.0.1:{port}", "--public-url", url)
        with hubs.running(tmp_path / "hub", *options) as hub:
            assert hub.command("person", "add", "alice", "--no-password").returncode == 0
            ended = share(hub, "--person", "alice", **variables)
            assert ended.returncode == 0, ended.stdout + ended.stderr
            link = qr_codes.read(ended.stdout)
            assert link in ended.stdout
            assert link.startswith(f"{url}/enter#")
            secret = link.partition("#")[2]
            signed_in = hub.write(lambda connection: accounts.redeem_link(connection, secret))
            assert signed_in is not None
            assert signed_in.person == "alice"
            assert shared(hub, **variables)["person"] == hub.person_file["name"]
            nobody = share(hub, "--person", "nobody", **variables)
            assert (nobody.returncode, "there is no person nobody" in nobody.stderr) == (1, True)
            (hub.home / ".local/state/tenterhook/hub/person.json").unlink()  # as of a hub that names no person here
            unknown = share(hub, **variables)
            assert (unknown.returncode, "hub share --person NAME" in unknown.stderr) == (1, True)
            assert shared(hub, "--person", "alice", **variables)["person"] == "alice"
            elsewhere = share(hub, "--person", "alice", "--database", os.fspath(tmp_path / "other.db"), **variables)
            assert (elsewhere.returncode, "another database" in elsewhere.stderr) == (1, True)
