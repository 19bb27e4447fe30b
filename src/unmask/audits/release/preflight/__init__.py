"""Before any attack: which columns can be compared, which are left out, and whether the files are what they should be."""
