"""Fits a run out: from its options and what the caller lends to the workshop that the weave works in.

Knows nothing of how runs begin, end or are resumed. What is read from the world (tools, domain, input
files) is recorded at the beginning, so that a resumed, forked or replayed run sees the same.
"""
