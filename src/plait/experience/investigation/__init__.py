"""Investigate: from what is on record of a run to its plan tree (ICE, section 3.1)."""
