"""schemathesis against the hub's own description, with each kind of token: no answer is a mistake of the hub."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub import hubs
from hub.hubs import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hub.hubs import Hub

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
TAKES_AWAY = ("/api/v1/tokens/{number}", "/api/v1/people/{name}")  # what would end a run: it finds its own token
EXCLUDED = [part for path in ("/api/v1/stream", *TAKES_AWAY) for part in ("--exclude-path", path)]  # a stream goes on


@pytest.fixture(scope="module")
def own_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub that no other file uses: odd calls leave odd things behind."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


def token(hub: Hub, who: str) -> str | None:
    if who == "nobody":
        return None
    if who == "agent":
        return hub.token("fuzzing")
    role = "admin" if who == "admin" else "approver"
    person = hub.person(f"fuzzing-{uuid.uuid4().hex[:8]}", role)
    return str(person.headers["authorization"]).removeprefix("Bearer ")


def fuzzed(hub: Hub, folder: Path, secret: str | None, *options: str) -> dict[str, Any]:
    """Try addresses that options name; what came of it."""
    report = folder / "report.json"
    command = [str(SCHEMATHESIS), "run", f"{hub.url}/api/v1/openapi.json"]
    command += ["--checks", CHECKS, "--report-json-path", str(report), "--generation-database", "none", "--no-color"]
    command += ["--request-timeout", "60", "--warnings", "off", "--suppress-health-check", "all", *options]
    if secret is not None:
        command += ["--header", f"Authorization: Bearer {secret}"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.stdout}{ended.stderr}\n{hub.said}"
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def check(hub: Hub, folder: Path, who: str, least: int, *options: str) -> None:
    """Hold a run to having tried everything, and the hub to being well afterwards."""
    secret = token(hub, who)
    found = fuzzed(hub, folder, secret, *EXCLUDED, *options)
    assert found["operations"]["tested"] == found["operations"]["selected"] >= 26
    assert found["test_cases"]["generated"] >= least
    assert found["test_cases"]["with_failures"] == found["operations"]["errored"] == 0
    assert "Traceback" not in hub.said
    assert hub.client(secret).get("/me").status_code == (200 if secret else 401)  # the token was valid until the end


@pytest.mark.parametrize("who", [pytest.param("agent", marks=pytest.mark.thorough), "admin"])
def test_a_few_hundred_odd_calls(own_hub: Hub, tmp_path: Path, who: str) -> None:
    check(own_hub, tmp_path, who, 300, "-n", "2", "--seed", "1")


@pytest.mark.thorough
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("who", ["nobody", "agent", "approver", "admin"])
def test_thousands_of_odd_calls(hub: Hub, tmp_path: Path, who: str) -> None:
    """On both databases, each time other ones, with something there to be found."""
    opened(hub.agent(), f"make {who}")
    check(hub, tmp_path, who, 2000, "-n", "100")


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_odd_calls_that_take_tokens_and_people_away(hub: Hub, tmp_path: Path) -> None:
    included = [part for path in TAKES_AWAY for part in ("--include-path", path)]
    found = fuzzed(hub, tmp_path, token(hub, "admin"), *included, "-n", "200")
    assert found["operations"]["tested"] == 2
    assert "Traceback" not in hub.said
