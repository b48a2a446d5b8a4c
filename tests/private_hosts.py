"""Addresses outside the public internet, as a URL may write them: what one test refuses, all do."""

from __future__ import annotations

ADDRESSES = {
    "loopback": "127.0.0.1 127.0.0.1. 127.1 127.255.255.254 2130706433 0x7f000001 0x7f.1 0x7F.0x0.0x0.0x1 017700000001 "
    "0177.0.0.01 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1",
    "private": "10.0.0.1 172.16.0.1 172.31.255.254 192.168.0.1",
    "link-local, and where clouds keep credentials": "169.254.169.254 0xa9fea9fe 169.254.0.1 100.64.0.1 "
    "100.100.100.200 192.0.0.192 168.63.129.16",
    "reserved": "198.18.0.1 192.0.2.1 192.88.99.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 "
    "0.0.0.0 0 0.1.2.3",
    "IPv6": "[::1] [::] [0:0:0:0:0:0:0:1] [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1] [100::1] "
    "[2001:db8::1] [3fff::1] [5f00::1]",
    "IPv4 within IPv6": "[::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [::ffff:224.0.0.1] [::ffff:168.63.129.16] "
    "[::ffff:0:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::a00:1] [2002:7f00:1::1] [2001:0:7f00:1::1] "
    "[2001:0:808:808:0:0:80ff:fffe]",
}
EVERY = [host for group in ADDRESSES.values() for host in group.split()]
ONE_OF_EACH = [group.split()[0] for group in ADDRESSES.values()]
