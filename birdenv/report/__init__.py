"""What pages have in common: styles, the frame of a page, tokens in addresses, plots.

This door imports nothing: `access` needs the extra `web`, and `plots` the extra `report`.
"""
