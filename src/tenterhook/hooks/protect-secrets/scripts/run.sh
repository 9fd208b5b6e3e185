#!/bin/sh
# Tenterhook runs the guard that HOOK.md names in its own process. This is for other programs that run hooks.
exec tenterhook guard "$(dirname "$0")/.."
