"""Environment variables that decide which code a program runs, or which certificates it trusts.

Agents let a repository set variables. The variables in this table are never taken from an agent: the launcher unsets
them, hooks get them as they were at `install`, and hooks may not set them for each other.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# Variables that affect the start of any program, of Python, Perl or OpenSSL: the launcher unsets them first. Without
# `SHELLOPTS` and `BASHOPTS`, which are read-only in bash: it would exit.
AT_START = (
    *(b"LD_PRELOAD", b"LD_LIBRARY_PATH", b"LD_AUDIT", b"LD_BIND_NOT", b"LD_BIND_NOW", b"LD_DEBUG", b"LD_DEBUG_OUTPUT"),
    *(b"LD_DYNAMIC_WEAK", b"LD_HWCAP_MASK", b"LD_ORIGIN_PATH", b"LD_PREFER_MAP_32BIT_EXEC", b"LD_PROFILE"),
    *(b"LD_PROFILE_OUTPUT", b"LD_SHOW_AUXV", b"LD_TRACE_LOADED_OBJECTS", b"LD_TRACE_PRELINKING", b"LD_USE_LOAD_BIAS"),
    *(b"LD_VERBOSE", b"LD_WARN", b"DYLD_INSERT_LIBRARIES", b"DYLD_LIBRARY_PATH", b"DYLD_FRAMEWORK_PATH"),
    *(b"DYLD_FALLBACK_LIBRARY_PATH", b"DYLD_FALLBACK_FRAMEWORK_PATH", b"DYLD_VERSIONED_LIBRARY_PATH"),
    *(b"GCONV_PATH", b"GETCONF_DIR", b"GLIBC_TUNABLES", b"LOCPATH", b"MALLOC_CHECK_", b"MALLOC_PERTURB_"),
    *(b"MALLOC_TRACE", b"NLSPATH", b"TZDIR"),
    *(b"OPENSSL_CONF", b"OPENSSL_CONF_INCLUDE", b"OPENSSL_ENGINES", b"OPENSSL_MODULES", b"SSLKEYLOGFILE"),
    *(b"PERL5DB", b"PERL5LIB", b"PERL5OPT", b"PERLIO", b"PERLLIB", b"PERL_UNICODE"),
    *(b"PYTHONHOME", b"PYTHONPATH", b"PYTHONPLATLIBDIR", b"__PYVENV_LAUNCHER__"),
)
_NAMES = frozenset(
    (
        *AT_START,
        *(b"HOME", b"TMPDIR"),  # start-up files, modules and settings below them
        *(b"BASH_ENV", b"BASHOPTS", b"CDPATH", b"SHELLOPTS"),
        *(b"GLOBIGNORE", b"GREP_OPTIONS", b"IFS", b"POSIXLY_CORRECT", b"PS4", b"BASH_COMPAT", b"BASH_LOADABLES_PATH"),
        *(b"BASH_XTRACEFD", b"EXECIGNORE", b"FPATH", b"MODULE_PATH", b"ZDOTDIR", b"fish_function_path"),
        *(b"NODE_COMPILE_CACHE", b"NODE_EXTRA_CA_CERTS", b"NODE_ICU_DATA", b"NODE_OPTIONS", b"NODE_PATH"),
        *(b"NODE_PRESERVE_SYMLINKS", b"NODE_PRESERVE_SYMLINKS_MAIN", b"NODE_REPL_EXTERNAL_MODULE"),
        *(b"NODE_TLS_REJECT_UNAUTHORIZED", b"NODE_V8_COVERAGE", b"TSX_TSCONFIG_PATH"),
        *(b"CLASSPATH", b"JAVA_HOME", b"JAVA_TOOL_OPTIONS", b"JDK_JAVA_OPTIONS", b"_JAVA_OPTIONS", b"PHPRC"),
        *(b"PHP_INI_SCAN_DIR", b"AWKLIBPATH", b"AWKPATH", b"TCLLIBPATH", b"TCL_LIBRARY", b"DEVELOPER_DIR"),
        *(b"GOENV", b"GOFLAGS", b"GOROOT", b"GOTOOLCHAIN", b"MAKEFILES", b"MAKEFLAGS", b"GNUMAKEFLAGS"),
        *(b"CURL_CA_BUNDLE", b"CURL_HOME", b"REQUESTS_CA_BUNDLE", b"SSL_CERT_DIR", b"SSL_CERT_FILE", b"WGETRC"),
        *(b"LESSCLOSE", b"LESSOPEN", b"RIPGREP_CONFIG_PATH", b"TAR_OPTIONS"),
        *(b"FUNCNEST", b"NULLCMD", b"READNULLCMD", b"SHELL", b"TMOUT", b"EMACSLOADPATH", b"EXINIT", b"VIMINIT"),
        *(
            b"VIMRUNTIME",
            b"HGRCPATH",
            b"CVS_RSH",
            b"SVN_SSH",
            b"SUDO_ASKPASS",
            b"WGET_ASKPASS",
            b"LESSKEY",
            b"LESSKEYIN",
        ),
        *(b"ZIPOPT", b"UNZIP", b"UNZIPOPT", b"ZIPINFO", b"ZIPINFOOPT", b"GZIP", b"XZ_DEFAULTS", b"XZ_OPT"),
        *(b"GCC_EXEC_PREFIX", b"COMPILER_PATH", b"GOAUTH", b"GOCACHEPROG", b"RUSTDOCFLAGS", b"RUSTFLAGS"),
        *(b"PYTEST_ADDOPTS", b"PYTEST_PLUGINS", b"PYLINTRC", b"IPYTHONDIR", b"MPLBACKEND", b"PSModulePath"),
        *(b"ANT_ARGS", b"ANT_OPTS", b"GRADLE_OPTS", b"GRADLE_USER_HOME", b"JAVA_OPTS", b"MAVEN_ARGS", b"MAVEN_OPTS"),
        *(b"SBT_OPTS", b"CAML_LD_LIBRARY_PATH", b"GDK_PIXBUF_MODULE_FILE", b"GIO_EXTRA_MODULES", b"GIO_MODULE_DIR"),
        *(b"GTK_MODULES", b"GTK_PATH", b"QT_PLUGIN_PATH", b"LIBMYSQL_PLUGINS", b"LIBMYSQL_PLUGIN_DIR", b"PSQLRC"),
        *(
            b"KRB5_CONFIG",
            b"HELM_PLUGINS",
            b"HOSTALIASES",
            b"LOCALDOMAIN",
            b"NIS_PATH",
            b"RESOLV_HOST_CONF",
            b"RES_OPTIONS",
        ),
    )
)
_KINDS = (
    *(b"LD_", b"DYLD_", b"MALLOC_", b"OPENSSL_", b"PYTHON", b"PERL", b"RUBY", b"BASH_FUNC_", b"GIT_", b"XDG_"),
    *(b"LUA_", b"GEM_", b"BUNDLE_", b"BUN_", b"DENO_", b"TS_NODE_", b"npm_config_", b"NPM_CONFIG_", b"DOTNET_"),
    *(b"CORECLR_", b"COMPlus_", b"ERL_", b"JULIA_", b"R_", b"PIP_", b"UV_", b"CARGO_", b"RUSTC_", b"RUSTUP_"),
    *(b"SSH_ASKPASS", b"RSYNC_", b"CLOUDSDK_PYTHON", b"ANSIBLE_", b"TF_CLI_", b"YARN_"),
    # which version a shim starts, and what it runs first
    *(b"PYENV_", b"RBENV_", b"NODENV_", b"GOENV_", b"JENV_", b"PLENV_", b"PHPENV_", b"ASDF_", b"MISE_", b"VOLTA_"),
    *(b"FNM_", b"PROTO_"),
)
_SECRETS = (b"_TOKEN", b"_PASSWORD", b"_SECRET", b"_API_KEY")  # not about code, and must not be stored
_OURS = b"TENTERHOOK_"  # set by us only
_MOST = 512 * 1024  # bytes of an agent's variables that hooks inherit; the system allows 2 MiB for everything
_MOST_LINKS = 40  # as in the kernel
_MOST_SENT = 16 * 1024  # bytes of an agent's differing values that hooks are sent; escapes may take six times as much
CHAIN = b"TENTERHOOK_CHAIN"  # only links that the ancestors of the process confirm are used


def is_from_record(name: bytes) -> bool:
    """Whether a variable is taken from the record of `install`, never from an agent or a hook."""
    return name in _NAMES or (name.startswith(_KINDS) and not name.endswith(_SECRETS))


def of_person(environ: Mapping[bytes, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the variables that `install` records, besides `PATH`."""
    for name, value in environ.items():
        if is_from_record(name):
            yield os.fsdecode(name), os.fsdecode(value)


def for_own_process(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a caller that our background processes get."""
    return {
        name: value
        for name, value in environ.items()
        if name in _OF_OWN_PROCESSES
        or name.startswith(_OF_OWN_PROCESSES_KINDS)
        or name.lower() in _PROXIES
        or is_from_record(os.fsencode(name))
        if name != "TENTERHOOK_CHAIN"
    }


_OF_OWN_PROCESSES = ("LANG", "LANGUAGE", "LOGNAME", "PATH", "TZ", "USER")
_OF_OWN_PROCESSES_KINDS = ("LC_", "PG", "TENTERHOOK_")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")  # in either case


def inherited(given: Mapping[bytes, bytes], record: Mapping[str, Any], directory: str) -> dict[bytes, bytes]:
    """Return the variables that hooks inherit from an agent in `directory`."""
    kept = {
        name: value
        for name, value in given.items()
        if not (name.startswith(_OURS) or is_from_record(name)) or name == CHAIN
    }
    for bus in (b"DBUS_SESSION_BUS_ADDRESS", b"DBUS_SYSTEM_BUS_ADDRESS", b"DBUS_STARTER_ADDRESS"):
        if b"unixexec" in kept.get(bus, b""):  # a program instead of a socket
            del kept[bus]
    left = _MOST - sum(map(len, kept.values()))
    while left < 0:  # a hook could not be started with them
        largest = max(kept, key=lambda name: len(kept[name]))
        left += len(kept.pop(largest))
    found = {**kept, **recorded(given, record)}
    found[b"PATH"] = _path(found[b"PATH"], given.get(b"PATH", b""), _project(directory, record["home"]))
    return found


def recorded(given: Mapping[bytes, bytes], record: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Return the variables of a record, with `HOME` and `XDG_*`, which records of earlier versions lack."""
    home = record["home"]
    found = {"HOME": home}
    for kind, usual in (("config", ".config"), ("state", ".local/state/tenterhook"), ("cache", ".cache/tenterhook")):
        if record[kind] != f"{home}/{usual}":
            found[f"XDG_{kind.upper()}_HOME"] = record[kind].removesuffix("/tenterhook")
    found |= record.get("steering", {})
    found |= record.get("environment", {})
    if not os.path.isdir(found.get("TMPDIR", "/")):  # of a session that has ended
        del found["TMPDIR"]
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in found.items()}
    runtime = b"/run/user/%d" % os.getuid()
    if given.get(b"XDG_RUNTIME_DIR") == runtime:
        encoded[b"XDG_RUNTIME_DIR"] = runtime
    encoded[b"PATH"] = absolute_only(encoded.get(b"PATH", b"")) or b"/usr/local/bin:/usr/bin:/bin"
    return encoded


def changed(given: Mapping[bytes, bytes], made: Mapping[bytes, bytes]) -> dict[str, str | bool | None]:
    """Return the agent's values of variables that hooks get with another value; None for one that it has not set.

    A value that is too long is True; if there are too many variables, the result is `{"*": True}`.
    """
    found: dict[str, str | bool | None] = {}
    left = _MOST_SENT
    for variable in {**given, **made}:
        value = given.get(variable)
        if value != made.get(variable) and variable.isascii() and variable.decode().isidentifier():
            found[variable.decode()] = None if value is None else os.fsdecode(value)
            left -= len(variable) + len(value or b"") + 8
    if left < 0:
        longest = sorted(
            (each for each in found.items() if isinstance(each[1], str)), key=lambda each: -len(str(each[1]))
        )
        for name, text in longest:
            if left < 0:
                found[name], left = True, left + len(os.fsencode(str(text)))
    return found if left >= 0 else {"*": True}


def absolute_only(path: bytes) -> bytes:
    """Return a `PATH` without relative entries, which would be directories of the project."""
    return b":".join(each for each in path.split(b":") if each.startswith(b"/"))


def _path(recorded: bytes, given: bytes, project: bytes | None) -> bytes:
    """Return the recorded `PATH`, then the agent's entries outside the project, then recorded ones inside it."""
    known = recorded.split(b":")
    more = [each for each in given.split(b":") if each.startswith(b"/") and each not in known]
    more = [each for each in more if not _is_of_process(each)]
    if project is None:
        return b":".join((*known, *more))
    theirs = [each for each in known if _is_inside(each, project)]
    more = [each for each in more if not _is_inside(os.path.realpath(each), project)]
    return b":".join((*(each for each in known if each not in theirs), *more, *theirs))


def _is_of_process(place: bytes) -> bool:
    """Whether a path leads through `/proc` or `/dev`, as `/proc/self/cwd`, which differs between processes."""
    names, at, links = place.split(b"/")[::-1], b"", 0
    while names:
        name = names.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            at = at.rpartition(b"/")[0]
            continue
        at += b"/" + name
        if at in (b"/proc", b"/dev"):
            return True
        try:
            target = os.readlink(at)
        except OSError:  # no link
            continue
        links += 1
        if links > _MOST_LINKS:
            return True
        at = b"" if target.startswith(b"/") else at.rpartition(b"/")[0]
        names += target.split(b"/")[::-1]
    return False


def _is_inside(place: bytes, directory: bytes) -> bool:
    return place == directory or place.startswith(directory + b"/")


def _project(directory: str, home: str) -> bytes | None:
    """Return the repository around a directory, else the directory; None for the home and directories above it."""
    path = os.path.realpath(directory)
    ends = ("/", os.path.realpath(home))
    while path not in ends:
        if os.path.lexists(f"{path}/.git"):
            return os.fsencode(path)
        path = os.path.dirname(path)
    path = os.path.realpath(directory)
    return None if any(f"{end}/".startswith(f"{path}/") for end in ends) else os.fsencode(path)
