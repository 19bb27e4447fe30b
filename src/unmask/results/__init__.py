"""What comes out of an audit, and all that its readers know; one file per notion, such as result, policy, state, verdict."""
