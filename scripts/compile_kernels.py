"""Compile every kernel once, on all cores, before tests need them: each worker would else do it alone."""

from hushtable.cli.warm_up import DRILLS, compile_for

if __name__ == "__main__":
    compile_for([*DRILLS])
