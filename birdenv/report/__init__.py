"""Pages and plots about runs, and common parts of all pages: styles, templates, access by token, a server.

This module imports nothing, because `access` needs the extra `web`, and `plots` needs the extra `report`.
"""
