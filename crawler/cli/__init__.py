"""What the commands in `crawler.commands` are made of. Read `command.py` first.

In come the words of a command line; out go text or JSON on stdout and one line on stderr for an error. The modules that
say what Redis holds (`workers`, `seed_status`, `plan_status`) return JSON values, which the commands print.
None of this lies in `crawler.commands`, because Scrapy imports every module there each time that `scrapy` starts, and
takes each command class that a module defines for a command with the module's name.
"""
