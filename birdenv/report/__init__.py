"""Pages and plots about runs, with the styles, templates, access control and server for all pages.

This package imports none of its modules, because `access` requires the `web` extra and `plots` requires the
`report` extra.
"""
