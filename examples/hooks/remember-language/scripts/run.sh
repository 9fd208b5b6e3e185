#!/bin/sh
if [ -f pyproject.toml ]; then
    echo "PROJECT_LANGUAGE=python" >> "$TENTERHOOK_ENV_FILE"
    echo '{"additional_context": "This is a Python project."}'
fi
