"""Side-by-side timings. `make bench` runs all, `make bench ONLY=distance` one."""
