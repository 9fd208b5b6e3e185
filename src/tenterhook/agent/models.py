"""Which model answers: any that pydantic-ai knows, an OpenAI-compatible server by its address, or a script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import infer_model

from ..errors import HookError
from .scripted import Script, ScriptedModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_HOW = 'name one: --model openai:gpt-5, ollama:qwen3, scripted:FILE; or set model = "…" below [agent] in {}'


def named(name: str | None, base_url: str | None, settings_file: str) -> Model:
    """The model of a name."""
    if not name:
        raise HookError("no model is named", _HOW.format(settings_file))
    if name.startswith("scripted:"):
        return ScriptedModel(Script(name.removeprefix("scripted:")))
    try:
        if base_url:
            return _at(base_url, name.partition(":")[2] or name)
        return infer_model(name)
    except UserError as error:
        raise HookError(str(error), _HOW.format(settings_file)) from None
    except ImportError as error:
        raise HookError(f"{name} needs a package that is not installed: {error}", _HOW.format(settings_file)) from None
    except Exception as error:  # noqa: BLE001  # each provider has its own way of missing a key
        raise HookError(f"{name} cannot be used: {error}", _HOW.format(settings_file)) from None


def speaking_as(model: Model, who: str) -> Model:
    """The same model for somebody else; a script has answers of its own for everyone."""
    return model.speaking_as(who) if isinstance(model, ScriptedModel) else model


def _at(base_url: str, name: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=base_url, api_key=key))
