#!/bin/sh
# Cline runs this file before or after each tool call, as its name says, and waits two minutes for an answer in JSON.
# If several such files change the input of a call, the last one counts, in the order of their names: hence `.zsh`.
decide() (
    case ${0##*/} in
        PreToolUse.*)
# @entry PreToolUse
            ;;
        PostToolUse.*)
# @entry PostToolUse
            ;;
    esac
)
decide
if [ $? = 2 ]; then # no tool takes this input, so that it does not run; the plug-in gives the model the reason
    why='Tenterhook could not answer: this is refused. Look into it with: tenterhook doctor cline'
    echo "{\"contextModification\": \"$why\", \"overrideInput\": {\"tenterhook_refused\": \"$why\"}}"
fi
