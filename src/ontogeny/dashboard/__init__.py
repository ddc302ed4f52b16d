"""The dashboard: a local page over a folder of runs that reads and never writes to them."""
