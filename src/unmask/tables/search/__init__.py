"""Who is nearest, who agrees in most: compiled searches among the rows of a table.

From outside, `tables.distance` is asked for distances and neighbours, and `agreement`, `best_match`, `best_matches` and
`near_counts` here for values that are equal; `groups` are for those who search rows by a measure of their own. Many files,
since all others are ways to the same answers (by rows of bits, by groups of categories, by boxes around rows, by matrix
products) with the loops that they compile; a few queries tell which way is the shortest.
"""
