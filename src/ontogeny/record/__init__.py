"""Recording: a training run becomes a folder from which everything else can be measured."""
