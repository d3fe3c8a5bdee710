"""Model transformations: rules in Python, in the manner of ATL."""
