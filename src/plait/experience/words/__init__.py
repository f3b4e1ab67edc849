"""The words of goals: what of them are values, names and operations, and when two goals are the same."""
