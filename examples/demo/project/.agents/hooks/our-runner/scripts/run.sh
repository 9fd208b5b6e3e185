#!/bin/sh
echo '{"modified_input": {"command": "python3 -m unittest -q"}}'
