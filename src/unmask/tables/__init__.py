"""Tables of people as integer codes and numbers: schemas, files, units, distances, ranks.

Many files, since schemas (4), the way from a frame to codes and back (5) and what is read off them each come in pieces that are
read one at a time; nothing outside needs more than `table`, `schema`, `read` and `distance`.
"""
