"""What comes out of an audit, and all that its readers know: the result, the policy that judged it, the run directory."""
