"use strict";
/* Stepping through the events of one history. Everything shown from the data goes through
   textContent, so nothing that a cluster wrote can become markup. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = Array.from(document.querySelectorAll(".events tr[id]"));
  const position = new Map(rows.map((row, index) => [Number(row.id.slice(1)), index]));
  const root = document.documentElement;
  const cursor = document.getElementById("cursor");
  const line = document.getElementById("line");
  const diff = document.getElementById("diff");
  const toggle = document.getElementById("toggle");
  const lanes = document.querySelector(".lanes");
  const events = document.querySelector(".events");
  const overlay = document.querySelector(".overlay");
  let selected = -1;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const showDiff = (n) => {
    const detail = data.details[n];
    if (!detail) {
      diff.replaceChildren(element("p", "Left out to keep this page small; the history has it."));
      return;
    }
    const table = element("table");
    for (const [path, before, after] of detail) {
      const row = table.insertRow();
      row.append(element("td", path));
      const cell = element("td");
      row.append(cell);
      if (after === undefined) {
        cell.textContent = before;
        continue;
      }
      if (before) cell.append(element("del", before));
      if (before && after) cell.append(element("br"));
      if (after) cell.append(element("ins", after));
    }
    diff.replaceChildren(table);
  };

  const showOnLanes = (x) => {
    const place = overlay.offsetLeft + (overlay.clientWidth * x) / 100;
    const margin = 60;
    if (place < lanes.scrollLeft + overlay.offsetLeft + margin) {
      lanes.scrollLeft = place - overlay.offsetLeft - margin;
    } else if (place > lanes.scrollLeft + lanes.clientWidth - margin) {
      lanes.scrollLeft = place - lanes.clientWidth + margin;
    }
  };

  // Only the table scrolls, not the page: whoever steps may be looking at the lanes.
  const showInTable = (row) => {
    const top = row.offsetTop - events.querySelector("thead").offsetHeight;
    const bottom = row.offsetTop + row.offsetHeight;
    if (top < events.scrollTop) events.scrollTop = top;
    else if (bottom > events.scrollTop + events.clientHeight) events.scrollTop = bottom - events.clientHeight;
  };

  const select = (index, scroll) => {
    if (!rows.length) return;
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (selected >= 0) rows[selected].removeAttribute("aria-current");
    selected = rows.indexOf(row);
    row.setAttribute("aria-current", "true");
    const n = Number(row.id.slice(1));
    const x = Number(row.dataset.x);
    const [, time, , subject, what, by] = Array.from(row.cells, (cell) => cell.lastChild?.data ?? "");
    line.replaceChildren(
      element("b", `t=${time} ${subject}`),
      document.createTextNode(` ${what}${by ? ` by ${by}` : ""}`),
    );
    cursor.hidden = false;
    cursor.style.left = `${x}%`;
    showDiff(n);
    showOnLanes(x);
    if (scroll) showInTable(row);
    root.dataset.selected = String(n);
  };

  const toViolation = () => select(position.get(data.first) ?? 0, true);

  const toNextEvidence = () => {
    const places = data.evidence.map((n) => position.get(n)).filter((at) => at !== undefined);
    if (places.length) select(places.find((at) => at > selected) ?? places[0], true);
  };

  const toggleDiff = (open) => {
    diff.hidden = open === undefined ? !diff.hidden : !open;
    toggle.setAttribute("aria-expanded", String(!diff.hidden));
  };

  const keys = {
    j: () => select(selected + 1, true),
    k: () => select(selected - 1, true),
    ArrowRight: () => select(selected + 1, true),
    ArrowLeft: () => select(selected - 1, true),
    ArrowDown: () => select(selected + 1, true),
    ArrowUp: () => select(selected - 1, true),
    Home: () => select(0, true),
    End: () => select(rows.length - 1, true),
    v: toViolation,
    e: toNextEvidence,
    d: () => toggleDiff(),
    Escape: () => toggleDiff(false),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.querySelector(".events tbody").addEventListener("click", (event) => {
    const row = event.target.closest("tr[id]");
    if (!row) return;
    select(rows.indexOf(row), false);
    toggleDiff(true);
  });

  document.querySelector(".canvas").addEventListener("click", (event) => {
    const track = event.target.closest(".lane:not(.axis) .track");
    if (!track) return;
    const n = event.target.dataset && event.target.dataset.n;
    if (n !== undefined && position.has(Number(n))) {
      select(position.get(Number(n)), true);
      return;
    }
    const box = track.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 100;
    const distance = (row) => Math.abs(Number(row.dataset.x) - x);
    select(rows.reduce((best, row, i) => (distance(row) < distance(rows[best]) ? i : best), 0), true);
  });

  document.getElementById("next").addEventListener("click", keys.j);
  document.getElementById("previous").addEventListener("click", keys.k);
  document.getElementById("to-violation").addEventListener("click", toViolation);
  toggle.addEventListener("click", () => toggleDiff());

  document.getElementById("copy")?.addEventListener("click", (event) => {
    const code = document.getElementById("replay");
    const done = () => { event.target.textContent = "Copied"; };
    const selectText = () => {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (document.execCommand("copy")) done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, selectText);
    else selectText();
  });

  const fromHash = () => {
    const found = /^#e(\d+)$/.exec(location.hash);
    if (!found || !position.has(Number(found[1]))) return false;
    select(position.get(Number(found[1])), true);
    return true;
  };
  window.addEventListener("hashchange", fromHash);
  if (!fromHash()) toViolation();
  root.dataset.ready = "1";
})();
