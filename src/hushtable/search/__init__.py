"""What every search stands on: a budget, a clock and a trace, threads and memory; a solver for programmes."""
