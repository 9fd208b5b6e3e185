"""The steps that bring a database up to date: each once, and none for a newer database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.errors import HookError
from tenterhook.hub import accounts, database, migrations

if TYPE_CHECKING:
    from pathlib import Path


def test_a_database_that_is_opened_again_keeps_what_is_in_it(tmp_path: Path) -> None:
    for expected in (0, 1):
        kept = database.opened(str(tmp_path / "hub.db"))
        assert len(kept.read(accounts.listed)) == expected
        kept.write(lambda connection: accounts.add_if_missing(connection, "anna", accounts.ADMIN))
        row = kept.read(lambda connection: connection.one("select value from hub where key = 'version'"))
        assert row == {"value": str(migrations.VERSION)}
        kept.close()


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    kept = database.opened(str(tmp_path / "hub.db"))
    newer = str(migrations.VERSION + 1)
    kept.write(lambda connection: connection.run("update hub set value = ? where key = 'version'", newer))
    with pytest.raises(HookError, match="newer version"):
        migrations.bring_up_to_date(kept)
    with pytest.raises(HookError, match="newer version"):
        database.opened(str(tmp_path / "hub.db"))
    assert kept.read(lambda connection: connection.one("select value from hub")) == {"value": newer}
    kept.close()
