"""Mechanisms side by side: the same people, the same coins, what each hides and what it costs. One file per notion.

plan, audit             what is compared, and the way through it
entrants                mechanisms by name: from text, from Python, by folder of draws
target_games            membership and attribute: all mechanisms on the same real tables and coins
published, measures     fresh tables, fits and releases: copies, utility, groups, cost
whole_table             the coin game about everybody
axes                    what is compared, mechanism by mechanism and pair by pair
dominance, sentences    who is dominated, what privacy costs, who loses
tables                  all of it as tables of a result
finished                releases that lie in a folder: what needs no fitting
"""
