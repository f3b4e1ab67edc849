"""Stands before the real fastembed in the processes that unit tests start."""

raise ImportError("a test that runs a real model must be marked `embedded`")
