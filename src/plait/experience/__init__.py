"""Experience: what worked is investigated, consolidated and exploited (ICE)."""
