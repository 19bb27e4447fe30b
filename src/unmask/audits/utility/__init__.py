"""What a release is still good for, told as a result; `unmask.utility` and `unmask audit --utility`."""
