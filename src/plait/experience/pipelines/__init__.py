"""Pipelines: the automaton, its form, its checks and how it is walked (ICE, section 3.2)."""
