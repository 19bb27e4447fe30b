"""Tables of people as integer codes and numbers: schemas, files, units, distances, ranks.

Many files, since schemas, the way from a file or a frame to codes and back, and what is read off them each come in pieces that
are read one at a time; most of what is outside needs no more than `table`, `schema`, `read` and `distance`.
"""
