"""What tests and benchmarks share."""
