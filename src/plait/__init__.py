"""Plait: teams, reflection and experience woven into one run."""
