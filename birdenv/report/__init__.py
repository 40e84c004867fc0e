"""Pages and plots about runs, with the styles, templates, access control and server for all pages.

This package imports none of its modules, because `access` needs the extra `web` and `plots` needs the extra
`report`.
"""
