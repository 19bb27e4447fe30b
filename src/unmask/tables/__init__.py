"""Tables of people as integer codes and numbers: schemas, files, units, distances, ranks."""
