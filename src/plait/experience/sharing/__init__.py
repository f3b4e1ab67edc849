"""What of experience may leave, and what may come in."""
