"""What a claim rests on: noise and crossings of a series, intervals and tests over runs."""
