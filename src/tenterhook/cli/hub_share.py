"""`tenterhook hub share`: check the ways to reach the hub from a phone, and print the phone's sign-in as a QR code."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from ..basics.display_text import one_line
from ..errors import HookError
from ..hub.service import SERVICE
from ..hub_client.connection import HubConnection, HubRefused, HubUnavailable
from ..hub_client.inbox_client import Credentials
from ..hub_client.membership import checked_url, is_loopback_url
from . import own_hub
from .hub import KEEP_DAYS, LISTEN, database_option
from .loading import json_option
from .printing import print_json, print_text
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from .own_hub import OwnHub

_TIMEOUT = 10.0  # seconds for a program or an address to answer
_WRONG_HOST = 421
_UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104  # a hub that listens on all addresses of this machine
_TLS_PAGE = "docs/hub.md, On other machines: TLS"


class Check(NamedTuple):
    """A check: what was found and, if it failed, what to do."""

    ok: bool
    what: str
    remedy: str = ""


class ShareMethod(NamedTuple):
    """A way to give the hub an address that a phone can reach."""

    name: str
    title: str
    checks: list[Check]
    steps: list[str]  # still to do

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "checks": [check._asdict() for check in self.checks]}


@click.command(short_help="Check how a phone can reach the hub, and print its sign-in as a QR code.")
@click.argument("url", required=False)
@click.option("--person", metavar="NAME", help="Who signs in with the code (default: you).")
@database_option
@json_option
@click.pass_context
def share(context: click.Context, url: str | None, person: str | None, database: str | None, as_json: bool) -> int:
    """Check that a phone can reach the hub, and print the phone's sign-in as a QR code; if not, say what is missing.

    The hub listens on this machine only, and accepts no sign-in from another one without TLS. A phone needs a TLS
    address that reaches it: through Tailscale, your own reverse proxy, or a tunnel. URL is the address to check
    (default: the one given with --public-url).
    The code signs in once, within ten minutes. The exit status is 0 if a code was printed, and 1 if something is
    missing.

    \b
    tenterhook hub share
    tenterhook hub share https://laptop.example.ts.net
    tenterhook hub share --person alice
    """
    refuse_below_agent("hub share")
    hub = own_hub.find()
    address = _address(hub, url)
    checks = check_address(address, hub) if address else []
    ways = [] if address and all(check.ok for check in checks) else _ways(hub)
    link = None
    if address and not ways:
        link = _link(hub, address, person or hub.person, database or context.obj)
    if as_json:
        _print_json(hub, address, checks, ways, link)
    else:
        _print(hub, address, checks, ways, link)
    return 0 if link else 1


def _address(hub: OwnHub, given: str | None) -> str | None:
    """Return the address to check; None if the hub was not given one: its own has no TLS."""
    if given is not None:
        return checked_url(given)
    return None if is_loopback_url(hub.url) or urlsplit(hub.url).hostname in _UNSPECIFIED else hub.url


class _Link(NamedTuple):
    url: str
    person: str
    expires: float


def _link(hub: OwnHub, address: str, person: str | None, database: str | None) -> _Link:
    from ..hub import accounts

    if person is None:
        raise HookError(
            "a phone can sign in, but it is not known as whom", "say it: tenterhook hub share --person NAME"
        )
    with own_hub.opened(hub, database) as kept:
        if kept.read(lambda connection: accounts.found(connection, person)) is None:
            raise HookError(f"there is no person {person}", f"add them: tenterhook hub person add {person}")
        secret = kept.write(lambda connection: accounts.new_link(connection, person))
    return _Link(f"{address}/enter#{secret}", person, time.time() + accounts.LINK_LASTS)


def check_address(url: str, hub: OwnHub) -> list[Check]:
    """Check an address as a phone would use it: TLS, and whether this hub answers, knows it, and lets people in."""
    restart = f"tenterhook hub stop, then: {_start(url)}"
    if is_loopback_url(url):
        return [Check(False, f"{url} is an address of this machine only", "choose one of the ways below")]
    if not url.startswith("https://"):
        remedy = "give it a certificate in one of the ways below"
        what = f"{url} has no TLS: others could read links and passwords, so the hub accepts no sign-in there"
        return [Check(False, f"{what} (except with --insecure)", remedy)]
    try:
        # without a token: it is not known yet which server this reaches
        asked = HubConnection(
            Credentials(url, "", ca_file=os.environ.get("SSL_CERT_FILE") or None), connect_timeout=_TIMEOUT
        )
        found = asked.call("GET", "/health", timeout=_TIMEOUT).body
    except HubRefused as error:
        if error.status == _WRONG_HOST:
            what = f"a hub answers at {url}, but does not know that this is its address"
            return [Check(True, f"{url} answers, with a valid certificate"), Check(False, what, restart)]
        return [Check(False, one_line(error.message), "is this the address of the hub itself?")]
    except HubUnavailable as error:
        remedy = f"does it point to {hub.listen}, and is its certificate valid?"
        return [Check(False, f"it cannot be used: {one_line(error.message)}", remedy)]
    checks = [Check(True, f"{url} answers, with a valid certificate")]
    if found.get("id") != hub.id:
        return [*checks, Check(False, "another server answers there, not this hub", f"point it to {hub.listen}")]
    checks.append(Check(True, "it reaches this hub"))
    if found.get("url") != url:
        said = one_line(str(found.get("url")))
        return [*checks, Check(False, f"the hub believes its address is {said}", restart)]
    checks.append(Check(True, "the hub knows this address"))
    if not found.get("tls"):
        what = "the proxy in front of the hub does not say that TLS was used: nobody could sign in there"
        return [*checks, Check(False, what, f"make it set X-Forwarded-Proto, as in {_TLS_PAGE}")]
    return [*checks, Check(True, "people can sign in there")]


# -- the ways


def _ways(hub: OwnHub) -> list[ShareMethod]:
    port = urlsplit(hub.listen).port
    return [_tailscale(hub, port), _proxy(hub), _tunnel(hub, port)]


def _restart(url: str) -> list[str]:
    return ["tenterhook hub stop", _start(url), "tenterhook hub share"]


def _start(url: str) -> str:
    """Return the command that starts the hub with this public address and its other options except `--insecure`."""
    config = SERVICE.config() or {}
    kept: list[tuple[str, Any, Any]] = [("--listen", config.get("listen"), LISTEN)]
    kept += [("--database", config.get("database"), None), ("--keep-days", config.get("keep_days"), KEEP_DAYS)]
    kept += [("--trusted-proxy", each, None) for each in config.get("trusted_proxies", ())]
    more = [word for option, value, usual in kept if value not in (usual, None) for word in (option, str(value))]
    return shlex.join(["tenterhook", "hub", "start", *more, "--public-url", url])


def _tailscale(hub: OwnHub, port: int | None) -> ShareMethod:
    checks, name = [], None
    steps = ["on the phone, install Tailscale and sign in to the same network: https://tailscale.com/download"]
    if shutil.which("tailscale") is None:
        checks.append(Check(False, "tailscale is not installed here", "https://tailscale.com/download"))
        steps += ["install it on this machine: https://tailscale.com/download", "sudo tailscale up"]
    else:
        checks.append(Check(True, "tailscale is installed"))
        state, name, why = _tailscale_status()
        if state != "Running":
            checks.append(Check(False, f"it is not up: {why or state}", "sudo tailscale up"))
            steps.append("sudo tailscale up")
        elif name is None:
            remedy = "enable MagicDNS and HTTPS certificates: https://login.tailscale.com/admin/dns"
            checks += [Check(True, "it is up"), Check(False, "this machine has no name with a certificate", remedy)]
            steps.append(remedy)
        else:
            checks.append(Check(True, f"it is up, and this machine is {name}"))
    url = f"https://{name or 'NAME.NETWORK.ts.net'}"
    if name is None or not _leads_here(url, hub, checks):
        steps.append(f"tailscale serve --bg {port}")
    steps += _restart(url)
    return ShareMethod(
        "tailscale", "Tailscale: a private network of your own devices; nothing is public", checks, steps
    )


def _tailscale_status() -> tuple[str, str | None, str]:
    """Return Tailscale's state, the name of this machine for which it can have a certificate, and an error."""
    try:
        ended = subprocess.run(
            ["tailscale", "status", "--json"],  # noqa: S607  # from the person's PATH
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "unknown", None, f"`tailscale status` did not answer within {_TIMEOUT:.0f} s"
    except OSError as error:
        return "unknown", None, f"`tailscale status` cannot be run: {error.strerror}"
    try:
        found = json.loads(ended.stdout)
        names = found.get("CertDomains") or []
        return str(found.get("BackendState")), str(names[0]) if names else None, ""
    except (ValueError, AttributeError, TypeError, IndexError):
        lines = ended.stderr.strip().splitlines()
        return "unknown", None, one_line(lines[-1]) if lines else "`tailscale status --json` printed nothing readable"


def _leads_here(url: str, hub: OwnHub, checks: list[Check]) -> bool:
    """Add whether an address reaches this hub, regardless of whether the hub knows the name."""
    found = check_address(url, hub)
    leads = found[0].ok and (len(found) == 1 or found[1].ok or found[1].remedy.startswith("tenterhook"))
    checks.append(Check(True, f"{url} reaches this hub") if leads else next(each for each in found if not each.ok))
    return leads


def _proxy(hub: OwnHub) -> ShareMethod:
    there = [program for program in ("caddy", "nginx") if shutil.which(program)]
    what = f"{' and '.join(there)} installed here" if there else "neither caddy nor nginx is installed here"
    steps = [
        "in DNS, point a name of yours (such as hub.example.org) to this machine",
        f"caddy reverse-proxy --from hub.example.org --to {urlsplit(hub.listen).netloc}",
        f"or nginx, as in {_TLS_PAGE}",
        *_restart("https://hub.example.org"),
    ]
    checks = [Check(bool(there), what, "" if there else "https://caddyserver.com/docs/install")]
    return ShareMethod(
        "proxy", "A reverse proxy: your own name and certificate; who can reach it is up to you", checks, steps
    )


def _tunnel(hub: OwnHub, port: int | None) -> ShareMethod:
    there = [program for program in ("cloudflared", "ngrok") if shutil.which(program)]
    what = f"{' and '.join(there)} installed here" if there else "neither cloudflared nor ngrok is installed here"
    steps = [
        f"ngrok http {port}",
        f"or a named Cloudflare tunnel to {hub.listen} (its quick tunnels do not pass on live updates)",
        *_restart("https://THE-ADDRESS-IT-PRINTS"),
    ]
    checks = [Check(bool(there), what, "" if there else "https://ngrok.com/download")]
    title = "A tunnel: a third party relays all traffic, and anyone can reach the sign-in page"
    return ShareMethod("tunnel", title, checks, steps)


# -- output


def _print_json(
    hub: OwnHub, address: str | None, checks: list[Check], ways: list[ShareMethod], link: _Link | None
) -> None:
    print_json(
        {
            "schema": 1,
            "listen": hub.listen,
            "url": hub.url,
            "checked": address,
            "checks": [check._asdict() for check in checks],
            "ways": [way.as_json() for way in ways],
            "link": link and link.url,
            "person": link and link.person,
            "expires": link and link.expires,
        }
    )


def _print(hub: OwnHub, address: str | None, checks: list[Check], ways: list[ShareMethod], link: _Link | None) -> None:
    click.echo(f"{click.style('hub', bold=True)} {hub.listen}")
    if address is None:
        what = (
            "reach it: it only has an address on this machine"
            if is_loopback_url(hub.url)
            else "sign in: it was given no --public-url"
        )
        print_text(f"    no phone can {what}")
    for check in checks:
        _print_check(check)
    if link is None:
        print_text(
            "\nA phone can sign in over TLS only. Any of these ways gives the hub such an address. Steps still to do:"
        )
        for way in ways:
            print_text(f"\n{click.style(way.title, bold=True)}")
            for check in way.checks:
                _print_check(check)
            for number, step in enumerate(way.steps, 1):
                click.echo(f"    {number}. {step}")  # whole: most are commands, to be copied
        return
    from . import qr_code

    print_text(f"\nsign in on the phone, as {one_line(link.person)}; once, within ten minutes:")
    click.echo(link.url)
    qr_code.print_code(link.url)


def _print_check(check: Check) -> None:
    mark = click.style("✓", fg="green") if check.ok else click.style("✗", fg="red")
    print_text(f"  {mark} {check.what}{check.remedy and f': {check.remedy}'}")
