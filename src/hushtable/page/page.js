"use strict";
// Forms without loading again, progress, and a second tab that sees the same. Without it, every form still works.
(() => {
  const parser = new DOMParser();
  let state = JSON.parse(document.body.dataset.state);
  let shownPath = location.pathname;
  const typed = new Set();
  let posts = 0;
  let failures = 0;

  const swap = (text, address, moves) => {
    const next = parser.parseFromString(text, "text/html");
    if (!next.body.dataset.state) { return; }
    const focused = document.activeElement && document.activeElement.id;
    const open = [...document.querySelectorAll("details")].map((each) => each.open);
    const same = address === location.pathname + location.search;
    document.title = next.title;
    document.documentElement.lang = next.documentElement.lang;
    for (const each of next.body.querySelectorAll("script")) { each.remove(); }
    state = JSON.parse(next.body.dataset.state);
    shownPath = new URL(address, location).pathname;
    Object.assign(document.body.dataset, next.body.dataset);
    document.body.replaceChildren(...next.body.childNodes);
    if (!same) { history.pushState(null, "", address); }
    if (same) {
      [...document.querySelectorAll("details")].forEach((each, place) => { each.open = open[place] ?? each.open; });
    } else {
      scrollTo(0, 0);
    }
    const alert = document.querySelector('[role="alert"]');
    const place = document.getElementById(focused) || document.getElementById("main-title");
    if (moves && alert) { alert.tabIndex = -1; alert.focus(); }
    else if (moves && place) { place.focus({ preventScroll: same }); }
    else if (focused && document.getElementById(focused)) { document.getElementById(focused).focus({ preventScroll: true }); }
    typed.clear();
  };

  const ended = () => {
    const notices = document.getElementById("notices");
    if (document.getElementById("ended")) { return; }
    const told = document.createElement("p");
    told.id = "ended";
    told.className = "careful";
    told.setAttribute("role", "alert");
    told.textContent = document.body.dataset.ended;
    notices.replaceChildren(told);
  };

  const load = async (address, options, moves) => {
    const found = await fetch(address, options);
    const place = new URL(found.url);
    const shown = place.pathname.startsWith("/do/") ? location.pathname + location.search : place.pathname + place.search;
    swap(await found.text(), shown, moves);
  };

  // Rows are turned, sorted and filtered where they stand: what is typed beside them stays.
  const loadRows = async (address, moves) => {
    const rows = document.getElementById("rows");
    if (!rows || new URL(address, location).pathname !== shownPath) { return load(address, {}, moves); }
    const next = parser.parseFromString(await (await fetch(address)).text(), "text/html").getElementById("rows");
    if (!next) { return load(address, {}, moves); }
    if (moves) { history.pushState(null, "", address); }
    rows.replaceWith(next);
    next.focus();
  };

  addEventListener("click", (event) => {
    const link = event.target.closest("#rows a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) { return; }
    event.preventDefault();
    loadRows(link.href, true).catch(ended);
  });
  addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    if (form.method === "get") {
      loadRows(`${form.getAttribute("action")}?${body}`, true).catch(ended);
      return;
    }
    posts += 1;
    document.body.setAttribute("aria-busy", "true");
    load(form.action, { method: "POST", body }, true).catch(ended).finally(() => {
      posts -= 1;
      document.body.removeAttribute("aria-busy");
    });
  });
  addEventListener("change", (event) => {
    const form = event.target.form;
    if (form && form.dataset.auto !== undefined && event.target.value) { form.requestSubmit(); }
  });
  addEventListener("input", (event) => { typed.add(event.target); });

  // Dragging a cell to a group ticks it, and sends the form that does the same without a mouse.
  let dragged = null;
  const groupUnder = (event) => {
    const into = dragged && event.target.closest && event.target.closest("[data-into]");
    const field = into && dragged.querySelector("input");
    return field && field.getAttribute("form") === `move-${into.dataset.level}` && !into.contains(dragged) ? into : null;
  };
  const mark = (into) => {
    for (const each of document.querySelectorAll(".over")) { each.classList.remove("over"); }
    if (into) { into.classList.add("over"); }
  };
  addEventListener("dragstart", (event) => {
    dragged = event.target.closest ? event.target.closest("[data-node]") : null;
    if (dragged) { event.dataTransfer.setData("text/plain", ""); event.dataTransfer.effectAllowed = "move"; }
  });
  addEventListener("dragover", (event) => {
    const into = groupUnder(event);
    mark(into);
    if (into) { event.preventDefault(); }
  });
  addEventListener("drop", (event) => {
    const into = groupUnder(event);
    if (!into) { return; }
    event.preventDefault();
    const field = dragged.querySelector("input");
    field.checked = true;
    field.form.elements.into.value = into.dataset.into;
    field.form.requestSubmit();
    dragged = null;
    mark(null);
  });
  addEventListener("dragend", () => { dragged = null; mark(null); });
  addEventListener("popstate", () => { loadRows(location.href, false).catch(ended); });

  const poll = async () => {
    try {
      const now = await (await fetch("/state")).json();
      failures = 0;
      const bar = document.getElementById("progress");
      if (bar && now.busy) { bar.value = now.share; document.getElementById("left").textContent = now.left; }
      const changed = now.version !== state.version || now.busy !== state.busy || now.job !== state.job;
      // What is being typed is not taken away.
      const isTyping = [...typed].some((each) => each.isConnected);
      if (changed && !posts && !isTyping) { await load(location.href, {}, false); }
    } catch {
      failures += 1;
      if (failures > 2) { ended(); }
    }
    setTimeout(poll, state.busy ? 400 : 1500);
  };
  document.documentElement.classList.add("scripted");
  setTimeout(poll, 400);
})();
