#!/bin/sh
echo '{"hookSpecificOutput": {"permissionDecision": "approve", "scope": "session"}}'
