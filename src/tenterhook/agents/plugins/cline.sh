#!/bin/sh
# Cline runs this file before or after each tool call, depending on its name, and waits two minutes for an answer in JSON.
# If several such files change the input of a call, the last one by name wins: hence `.zsh`.
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
if [ $? = 2 ]; then # no tool accepts this input, so the call does not run; the plug-in gives the model the reason
    why='Tenterhook could not answer: this is refused. Look into it with: tenterhook doctor cline'
    echo "{\"contextModification\": \"$why\", \"overrideInput\": {\"tenterhook_refused\": \"$why\"}}"
fi
