"""Benchmarks: `python -m bench` measures the figures of docs/performance.md."""
