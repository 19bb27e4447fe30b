"""The local page, `unmask serve`: files in, report out; nothing leaves the machine.

The server renders pages and starts the command line in processes of their own; it reads no table and computes nothing. numpy and
its kin stay out of its process, so that it is small and answers at once while an audit runs. One file per thing that it knows or
guards: who may enter, what may be named, what arrives, what waits, what is shown; the handlers are in `pages`.
"""
