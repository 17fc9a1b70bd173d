"""What pages show of releases: charts, maps, places, changes from window to window, in words.

Everything is read from the files that the release job made; nothing here sees anything else.
"""
