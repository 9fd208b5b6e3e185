"""Services in the background: one process per account, started only from what this account has written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import alive, tenterhook, until
from tenterhook.basics import places
from tenterhook.dispatch.daemon import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenterhook.basics.background_services import Service

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    """The daemon, as a service that is not enabled; it does not outlive the test."""
    yield SERVICE
    SERVICE.disable()
    SERVICE.stop()


def test_it_is_enabled_until_it_is_disabled_with_the_options_and_variables_of_that_time(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("SECRET_OF_A_SHELL", "x")
    service.enable({"port": 1})
    config = service.config()
    assert config is not None
    assert (config["port"], config["environment"]["LANG"]) == (1, "C")
    assert "SECRET_OF_A_SHELL" not in config["environment"]
    assert os.stat(service.file).st_mode & 0o777 == 0o600
    assert (service.disable(), service.disable(), service.config()) == (True, False, None)


def test_what_another_account_could_have_written_starts_nothing(service: Service) -> None:
    service.enable({})
    os.chmod(service.file, 0o666)
    assert service.config() is None
    os.chmod(service.file, 0o600)
    Path(service.file).write_text('{"schema": 2, "python": ')
    assert service.config() is None
    with pytest.raises(FileNotFoundError):
        service.start()


def test_one_process_claims_it_and_one_that_a_person_started_is_never_outdated(service: Service) -> None:
    with service.claimed("1 2 3") as first, service.claimed() as second:
        assert (first, second) == (True, False)
        assert service.process_id() == os.getpid()
        assert service.is_outdated()
    assert service.process_id() is None
    with service.claimed() as first:
        assert first
        assert not service.is_outdated()


def test_it_does_not_start_if_it_is_disabled_meanwhile(service: Service) -> None:
    service.enable({})
    started = service.start()
    service.disable()
    until(lambda: not alive(started))
    assert service.process_id() is None


def test_a_process_that_has_the_number_of_one_in_another_container_is_not_stopped(service: Service) -> None:
    """What holds the lock has written the number that it has there; here it is another process's."""
    with subprocess.Popen(["sleep", "60"]) as other:
        with service.claimed("1 2 3"):
            Path(places.state(), "daemon.lock").write_text(f"{other.pid} 1 2 3")
            stopped = tenterhook("daemon", "stop")
        assert stopped.returncode == 1
        assert "cannot be stopped from here: it runs in another container" in stopped.stderr
        assert other.poll() is None
        other.kill()
