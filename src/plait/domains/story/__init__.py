"""Stories from a prompt: the chain and its prompts; the quality is the judge's."""
