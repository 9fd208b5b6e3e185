#!/bin/sh
# A typical hand-written guard: patterns over the JSON of the event. Exit status 2 refuses the call.
event=$(cat)
refuse() { echo "the guard says no: $1" >&2; exit 2; }
case $event in
*"rm -rf /"* | *"rm -rf ~"* | *"rm -rf .."* | *"rm -rf \$HOME"*) refuse "it deletes files outside the project" ;;
*"git reset --hard"* | *"git clean -f"* | *"git checkout -- "*) refuse "it discards work" ;;
*"git push --force"* | *"git push -f"*) refuse "it overwrites what others have pushed" ;;
*"curl "*"| sh"* | *"curl "*"| bash"* | *"wget "*"| sh"* | *"wget "*"| bash"*) refuse "it runs code from the network" ;;
*"mkfs"* | *"of=/dev/sd"* | *":(){ :|:& };:"*) refuse "it destroys the system" ;;
*".ssh/id_"* | *".aws/credentials"*) refuse "it reads secrets" ;;
*"DROP TABLE"* | *"DROP DATABASE"* | *"terraform destroy"*) refuse "it destroys data" ;;
esac
