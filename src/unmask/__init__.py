"""unmask: what a synthetic table gives away about the people in the real one."""
