"""Consolidate: from plan trees to workflows, pipelines and lessons (ICE, section 3.2)."""
