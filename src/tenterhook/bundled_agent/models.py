"""Models by name: any pydantic-ai model, an OpenAI-compatible server by its address, or a script."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import infer_model

from ..basics.model_script import ModelScript
from ..errors import HookError
from .scripted import PydanticScriptedModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_NAMES = """\
name one with --model, or with model = "…" below [agent] in {}:
    openai:gpt-5                  key in OPENAI_API_KEY
    anthropic:claude-sonnet-4-5   key in ANTHROPIC_API_KEY
    ollama:qwen3                  no key; address in OLLAMA_BASE_URL"""
_WITHOUT_KEY = "to try it without a key, write `answers: [{text: hello}]` to a file and use --model scripted:FILE"
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")


def named(name: str | None, base_url: str | None, settings_file: str) -> Model:
    """Return the model of a name. Raises `HookError` with a remedy if it cannot be used."""
    if not name:
        raise HookError("no model is configured", f"{_NAMES.format(settings_file)}\n  {_WITHOUT_KEY}")
    if name.startswith("scripted:"):
        return PydanticScriptedModel(ModelScript.load(name.removeprefix("scripted:")))
    try:
        if base_url:
            return _at(base_url, name.partition(":")[2] or name)
        return infer_model(name)
    except ImportError as error:
        how = _NAMES.format(settings_file)
        raise HookError(f"{name} needs a package that is not installed: {error}", how) from None
    except Exception as error:  # noqa: BLE001  # each provider raises its own error for a missing key
        raise _unusable(name, error, settings_file) from None


def _unusable(name: str, error: Exception, settings_file: str) -> HookError:
    """Return the error for a model that cannot be used: mostly a missing variable of its provider."""
    missing = [each for each in dict.fromkeys(_VARIABLE.findall(str(error))) if not os.environ.get(each)]
    if missing:
        needs = f"{name} needs {' or '.join(missing)} in the environment, which is not set"
        return HookError(needs, f"export {missing[0]}=…\n  {_WITHOUT_KEY}")
    said = str(error) if isinstance(error, UserError) else f"{name} cannot be used: {error}"
    return HookError(said, f"{_NAMES.format(settings_file)}\n  {_WITHOUT_KEY}")


def for_speaker(model: Model, who: str) -> Model:
    """Return the model for another speaker: a script has separate answers for each."""
    return model.speaking_as(who) if isinstance(model, PydanticScriptedModel) else model


def _at(base_url: str, name: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=base_url, api_key=key))
