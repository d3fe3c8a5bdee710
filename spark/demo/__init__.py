"""`make demo`: what neomodel is for, in a few minutes, on this machine; it ends with a page to look at."""
