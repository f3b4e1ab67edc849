"""Ways to solve the tasks of a benchmark: Plait, and what it is compared with."""
