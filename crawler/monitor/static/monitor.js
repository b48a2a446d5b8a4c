// Keeps what a page shows up to date. One window of the browser holds the event stream and tells the others, since a
// browser opens few connections to a host; each window that is seen then asks for its own page again, and takes over
// what has changed in the parts marked with data-live. Without this script a page is as it was when it was loaded.
"use strict";
(() => {
  const status = document.getElementById("connection");
  const windows = new BroadcastChannel("headroom-monitor");
  let isStale = false;
  let isAsking = false;

  function show(state) {
    status.className = `is-${state}`;
    const text = status.dataset[`${state}Text`];
    if (status.textContent !== text) status.textContent = text;
  }

  async function refresh() {
    if (document.querySelector("[data-still]")) return; // the answer to a form: its address alone would show another page
    if (document.hidden || isAsking) {
      isStale = true;
      return;
    }
    isStale = false;
    isAsking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.redirected) {
        location.reload(); // signed out meanwhile
        return;
      }
      take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      show("lost");
    } finally {
      isAsking = false;
    }
  }

  function take(other) {
    if (!document.querySelector("[data-live=error]") !== !other.querySelector("[data-live=error]")) {
      location.reload(); // what failed when the page was loaded succeeds now, or the other way round
      return;
    }
    const parts = new Map([...other.querySelectorAll("[data-live]")].map((part) => [part.dataset.live, part]));
    if ([...parts.keys()].some((name) => !document.querySelector(`[data-live="${CSS.escape(name)}"]`))) {
      document.getElementById("main").replaceChildren(...other.getElementById("main").childNodes);
      return;
    }
    for (const part of document.querySelectorAll("[data-live]")) {
      const newer = parts.get(part.dataset.live);
      if (newer && newer.innerHTML !== part.innerHTML && !hasFocus(part)) part.replaceChildren(...newer.childNodes);
    }
  }

  // Whoever types into a part, or is on a link of it, isn't thrown out of it.
  function hasFocus(part) {
    return part !== document.activeElement && part.contains(document.activeElement);
  }

  function hear(state) {
    show(state);
    if (state !== "lost") refresh();
  }

  function listen() {
    const events = new EventSource("/events");
    const tell = (state) => {
      windows.postMessage(state);
      hear(state);
    };
    events.addEventListener("figures", () => tell("live"));
    events.addEventListener("away", () => tell("away"));
    events.addEventListener("error", () => {
      tell("lost");
      if (events.readyState === EventSource.CLOSED) setTimeout(() => { events.close(); listen(); }, 3000);
    });
  }

  windows.addEventListener("message", (message) => hear(["live", "away"].includes(message.data) ? message.data : "lost"));
  window.addEventListener("offline", () => show("lost"));
  document.addEventListener("visibilitychange", () => { if (isStale) refresh(); });
  if (navigator.locks) navigator.locks.request("headroom-monitor-events", () => { listen(); return new Promise(() => {}); });
  else listen();
})();
