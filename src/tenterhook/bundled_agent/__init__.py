"""The bundled agent: a real coding agent, built on pydantic-ai, that fires every event."""
