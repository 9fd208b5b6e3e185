"""Templates: every value is escaped and made visible, and the static files are served packed or plain."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import httpx
import pytest

from tenterhook.hub import rendering

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_a_value_is_escaped_and_made_visible_whatever_the_template_does_with_it() -> None:
    shown = rendering._templates().from_string("{{ value }}|{{ value|one_line }}").render(value="<b>\u202e\0")
    for each in str(shown).split("|"):
        assert "<b>" not in each
        assert "\u202e" not in each
        assert "U+202E" in each


def test_a_value_that_a_page_forgot_is_an_error() -> None:
    with pytest.raises(Exception, match="undefined"):
        rendering._templates().from_string("{{ forgotten }}").render()


@pytest.mark.parametrize("name", ["style.css", "page.js", "icon.svg"])
def test_a_static_file_is_packed_for_those_who_can_unpack_it(small_hub: Hub, name: str) -> None:
    url = f"{small_hub.url}/static/{name}"
    plain = httpx.get(url, headers={"accept-encoding": "identity"})
    packed = httpx.get(f"{url}?v=1", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content == gzip.decompress(rendering._files()[name][1])
    assert plain.headers["cache-control"] != packed.headers["cache-control"]


def test_no_other_file_is_served(small_hub: Hub) -> None:
    for name in ("other.css", "..%2frendering.py", "%2fetc%2fpasswd"):
        assert httpx.get(f"{small_hub.url}/static/{name}").status_code == 404
