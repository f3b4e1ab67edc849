"""What teams work on: the chains, prompts and qualities of software, stories and whatever a user writes."""
