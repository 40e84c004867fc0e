"""Pages and plots about runs, and what all pages share: styles, templates, access by token, and a server.

This module imports nothing, because `access` needs the extra `web`, and `plots` the extra `report`.
"""
