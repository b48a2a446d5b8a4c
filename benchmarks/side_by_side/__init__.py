"""Ours and other crawlers side by side: the same pages, the same server, one core, every item checked.

make bench                                    four rounds of 5,000 pages of each
make bench ARGS='--pages 2000 --rounds 1 --only aiohttp,files'

pages.py        the pages, and what a crawler must find on each
servers.py      nginx
meter.py        runs one command: its time on the processor, its memory
measure.py      one run: started, watched until the last page, its items checked
install.py      the peers' environments
contenders.py   who takes part, and what each run needs
ours.py         the frontier filled, the consumer's settings, what Redis had to do
report.py       the table
sampler.py      where ours spends its time (--profile)
peers/          one short script for each peer
"""
