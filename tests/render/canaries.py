"""Servers on loopback that only a browser with a way out can reach, and a page that tries every way there is."""

from __future__ import annotations

import asyncio
import contextlib
import json
from string import Template

from render.made_site import SCRIPT

# How loopback can be written: Chromium reads all of these as an address of this machine.
LOOPBACK = """127.0.0.1 127.0.0.1. 127.1 127.255.255.254 2130706433 0x7f000001 0x7f.1 017700000001 0177.0.0.01 0 0.0.0.0
[::1] [::ffff:127.0.0.1] localhost localhost. LOCALHOST canary.localhost １２７.０.０.１ 127。0。0。1"""
SPELLINGS = LOOPBACK.split()
WORKERS = ("frame", "worker", "shared-worker", "service-worker")
WORKER = "fetch('http://$canary/$name').catch(() => 0); new WebSocket('ws://$canary/$name-websocket');"
PAGE = """<!doctype html>
<link rel=icon href="http://$canary/favicon">
<link rel=stylesheet href="http://$canary/stylesheet">
<link rel=preload as=image href="http://$canary/preload">
<link rel=modulepreload href="http://$canary/modulepreload">
<link rel=prefetch href="http://$canary/prefetch">
<link rel=manifest href="http://$canary/manifest">
<link rel=dns-prefetch href="http://$canary">
<link rel=preconnect href="http://$canary">
<style>
@import "http://$canary/import";
@font-face { font-family: f; src: url(http://$canary/font) }
p { font-family: f; background: url(http://$canary/background) }
</style>
<p>text</p>
<img src="http://$canary/img" attributionsrc="http://$canary/attribution">
<img srcset="http://$canary/srcset 1x">
<svg><image href="http://$canary/svg"></image></svg>
<video src="http://$canary/video" autoplay></video>
<audio src="http://$canary/audio" autoplay></audio>
<object data="http://$canary/object"></object>
<embed src="http://$canary/embed">
<input type=image src="http://$canary/input">
<script src="http://$canary/script"></script>
<script type=module>import("http://$canary/import-module").catch(() => 0)</script>
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["http://$canary/speculation-prefetch"]}],
  "prerender": [{"source": "list", "urls": ["/prerendered"]}]}</script>
<iframe src="http://$canary/iframe"></iframe>
<iframe src="/frame"></iframe>
<iframe srcdoc="<img src='http://$canary/srcdoc'>"></iframe>
<iframe srcdoc="<meta http-equiv=refresh content='0;url=http://$canary/refresh'>"></iframe>
<iframe src="file:///etc/hostname"></iframe>
<iframe src="view-source:http://$canary/view-source"></iframe>
<iframe src="chrome://version"></iframe>
<iframe src="filesystem:http://$canary/filesystem"></iframe>
<iframe name=posted></iframe>
<form id=form action="http://$canary/form" method=post target=posted></form>
<a id=ping href="#here" ping="http://$canary/ping">x</a>
<a id=download href="http://$canary/download" download>x</a>
<script>
const pending = [];
const wait = (start) => pending.push(new Promise((resolve) => {
  setTimeout(resolve, 700);  // Chromium puts off WebSockets where many have failed
  try { start(resolve); } catch { resolve(); }
}));
const asked = (address, options) => wait((done) => fetch(address, options).then(done, done));
const socket = (address) => wait((done) => { const s = new WebSocket(address); s.onclose = done; });
asked("http://$canary/fetch", {mode: "no-cors"});
asked("http://$canary/fetch-preflight", {method: "PUT", headers: {"X-Own": "1"}});
asked("http://$canary/keepalive", {mode: "no-cors", keepalive: true});
asked("/redirect", {mode: "no-cors"});
asked("/rebound", {mode: "no-cors"});
wait((done) => { const x = new XMLHttpRequest(); x.onloadend = done; x.open("GET", "http://$canary/xhr"); x.send(); });
wait((done) => { const e = new EventSource("http://$canary/eventsource"); e.onerror = () => { e.close(); done(); }; });
navigator.sendBeacon("http://$canary/beacon", "x");
try { fetchLater("http://$canary/fetch-later", {activateAfter: 0}); } catch {}
socket("ws://$canary/websocket");
socket("wss://$canary/websocket-tls");
for (const address of $spellings) {
  asked(`http://$${address}:$port/spelling`, {mode: "no-cors"});
  socket(`ws://$${address}:$port/spelling-websocket`);
}
wait((done) => {
  const servers = ["stun:$canary", "turn:$canary?transport=udp", "turn:$canary?transport=tcp"];
  const peer = new RTCPeerConnection({iceServers: [{urls: servers, username: "u", credential: "p"}]});
  peer.createDataChannel("d");
  peer.onicegatheringstatechange = () => { if (peer.iceGatheringState === "complete") done(); };
  peer.createOffer().then((offer) => peer.setLocalDescription(offer), done);
});
wait((done) => {
  const transport = new WebTransport("https://$canary/webtransport");
  transport.ready.catch(() => 0);
  transport.closed.then(done, done);
});
new Worker("/worker");
new SharedWorker("/shared-worker");
new Worker(URL.createObjectURL(new Blob(["importScripts('http://$canary/import-scripts')"])));
Object.getPrototypeOf(navigator.serviceWorker).register.call(navigator.serviceWorker, "/service-worker").catch(() => 0);
document.getElementById("form").submit();
document.getElementById("ping").click();
document.getElementById("download").click();
window.open("http://$canary/popup");
window.open("http://$canary/popup-without-opener", "_blank", "noopener");
for (let i = 0; i < 3; i++) { new Image().src = "http://$canary/again" + i; }
Promise.all(pending).then(() => setTimeout(() => { document.body.id = "tried"; }, 300));
</script>
"""
REPORTS = (
    (b"Content-Security-Policy-Report-Only", b"img-src 'none'; report-uri http://%b/csp-report; report-to own"),
    (b"Reporting-Endpoints", b'own="https://%b/report", default="https://%b/report"'),
    (b"Report-To", b'{"group": "nel", "max_age": 99, "endpoints": [{"url": "https://%b/nel"}]}'),
    (b"NEL", b'{"report_to": "nel", "max_age": 99, "success_fraction": 1.0}'),
    (b"Link", b"<http://%b/link-header>; rel=preload; as=image"),
    (b"Alt-Svc", b'h3="%b"'),
)
TRIED = "#tried"  # the page has this id when all that tells its end has ended, and some time has passed


class Canaries(asyncio.DatagramProtocol):
    """A TCP and a UDP server on one port of loopback. Over TCP there is a made site, too.

    Attributes:
        reached: The ways in which they were reached, as the page calls them; a connection without a request is `tcp`,
            a datagram `udp`.
        origin: Of the site over TCP.
    """

    def __init__(self, site):
        self.reached = set()
        self._site = site
        self._servers = []

    async def __aenter__(self):
        self._servers.append(await asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.port = self._servers[0].sockets[0].getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        for other in ("127.255.255.254", "::1"):
            with contextlib.suppress(OSError):  # a machine without IPv6
                self._servers.append(await asyncio.start_server(self._connected, other, self.port))
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", self.port))
        return self

    async def __aexit__(self, *_):
        self._udp.close()
        for server in self._servers:
            server.close()

    def datagram_received(self, data, addr):
        self.reached.add("udp")

    async def _connected(self, reader, writer):
        path = "/tcp"
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            async with asyncio.timeout(2):  # those of preconnect bring nothing
                path = (await reader.readuntil(b"\r\n")).split()[1].decode("ascii")
                await reader.readuntil(b"\r\n\r\n")
                answer = self._site.answer(self.origin + path)
                writer.write(b"HTTP/1.1 %d X\r\nConnection: close\r\n" % answer.status)
                writer.writelines(b"%b: %b\r\n" % header for header in answer.headers)
                writer.write(b"\r\n" + answer.body)
                await writer.drain()
        self.reached.add(path.strip("/"))
        writer.close()

    def fill(self, origin):
        """Gives the site the page that tries every way to these canaries, and what it needs; returns its address."""
        names = {"canary": f"127.0.0.1:{self.port}", "port": self.port, "spellings": json.dumps(SPELLINGS)}
        canary = names["canary"].encode()
        headers = [(name, value.replace(b"%b", canary)) for name, value in REPORTS]
        scripts = {name: Template(WORKER).substitute(names, name=name) for name in WORKERS}
        self._site.add(f"{origin}/", Template(PAGE).substitute(names), *headers)
        for name, script in scripts.items():
            self._site.add(f"{origin}/{name}", script, kind=SCRIPT)
        self._site.add(
            f"{origin}/frame", f"<img src='http://{names['canary']}/frame-img'><script>{scripts['frame']}</script>"
        )
        self._site.add(
            f"http://{names['canary']}/download", "x", (b"Content-Disposition", b"attachment; filename=x.txt")
        )
        self._site.redirect(f"{origin}/redirect", f"{self.origin}/redirected")
        self._site.redirect(f"{origin}/rebound", f"http://rebinding.example:{self.port}/rebound")
        return f"{origin}/"
