"""Who attacks, what they know, what they want: games, views, pools, targets."""
