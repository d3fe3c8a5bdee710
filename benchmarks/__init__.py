"""Benchmarks: every figure beside the raw driver, measured in the same run."""
