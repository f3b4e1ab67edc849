"""What some tasks of each kind teach, and what that is worth for others (ICE, Tables 1 to 3)."""
