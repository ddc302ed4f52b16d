"""The run folder: how what a run leaves behind reaches the disk, and comes back as it was or not at all."""
