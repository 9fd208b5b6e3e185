"""Hooks in agents that others' frameworks run: each module maps one framework's life onto PROTOCOL 1's events.

| module | framework | class |
|---|---|---|
| `tenterhook.adapters.pydantic_ai` | pydantic-ai | `HooksCapability` |
| `tenterhook.adapters.openai_agents` | OpenAI Agents SDK | `HooksRunner` |
| `tenterhook.adapters.claude_agent` | Claude Agent SDK | `HooksCallbacks` |
| `tenterhook.adapters.langchain` | LangChain, LangGraph | `HooksMiddleware` |

Each has a table `EVENTS`: by whom an event is fired, for every event that it can give; the others it cannot.
"""
