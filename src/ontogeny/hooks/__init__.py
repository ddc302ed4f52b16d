"""Ways to look into a running model; all are context managers that put back what they changed."""
