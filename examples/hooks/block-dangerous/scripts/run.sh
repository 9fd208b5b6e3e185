#!/bin/sh
echo "This would destroy data. List what you want to remove, and remove that by name." >&2
exit 2
