"""Consolidate: from plan trees to workflows, pipelines and lessons (ICE, sections 3.1 and 3.2)."""
