#!/bin/sh
echo '{"decision": "ask", "reason": "customers would see it"}'
