"""Whole programs from a requirement: the chain, its prompts, their quality, and what is handed over."""
