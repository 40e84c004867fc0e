"""Pages and plots about runs, and what all pages share: styles, templates, token access, and a server.

This module imports nothing, because `access` needs the extra `web`, and `plots` needs the extra `report`.
"""
