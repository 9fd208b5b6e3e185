"""Hooks in agents of other frameworks: each module maps a framework's lifecycle to the events of PROTOCOL 1.

| module | framework | class |
|---|---|---|
| `tenterhook.adapters.pydantic_ai` | pydantic-ai | `HooksCapability` |
| `tenterhook.adapters.openai_agents` | OpenAI Agents SDK | `HooksRunner` |
| `tenterhook.adapters.claude_agent` | Claude Agent SDK | `HooksCallbacks` |
| `tenterhook.adapters.langchain` | LangChain, LangGraph | `HooksMiddleware` |

Each has a table `EVENTS`: what fires each event. Events that are not in it are not supported there.
"""
