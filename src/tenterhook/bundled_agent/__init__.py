"""The bundled agent: a real coding agent, on pydantic-ai, in which every event happens."""
