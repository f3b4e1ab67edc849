"""Investigate: from what is on record of a run to its plan tree (ICE, sections 3.1 and 3.2)."""
