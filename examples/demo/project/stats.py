"""Figures of lists of numbers."""


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
