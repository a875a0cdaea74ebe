"use strict";
/* Filters of the table of claims; the choice stands in the address, so that it can be shared.
   A claim has few of its rows in the page, and the names of all its scenarios. */
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const claims = Array.from(document.querySelectorAll("details.claim"));
  const scenarios = JSON.parse(document.getElementById("scenarios").textContent);
  const scenariosOf = (claim) =>
    claim.dataset.scenarios.split(" ").filter(Boolean).flatMap((range) => {
      const [first, last] = range.split("-").map(Number);
      return scenarios.slice(first, (last ?? first) + 1);
    });
  const words = new Map(claims.map((claim) => [claim, claim.textContent.toLowerCase()]));
  const named = new Map(claims.map((claim) => [claim, scenariosOf(claim).join(" ").toLowerCase()]));
  const has = (claim, term) => words.get(claim).includes(term) || named.get(claim).includes(term);
  const names = ["text", "outcome", "level", "profile"];

  const apply = () => {
    const wanted = Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
    const terms = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const claim of claims) {
      const fits = ["outcome", "level", "profile"].every(
        (name) => !wanted[name] || claim.dataset[name] === wanted[name],
      );
      const visible = fits && terms.every((term) => has(claim, term));
      claim.hidden = !visible;
      count += visible ? 1 : 0;
    }
    shown.textContent = count === claims.length ? `${count} claims` : `${count} of ${claims.length} claims`;
    document.documentElement.dataset.shown = String(count);
  };

  const remember = () => {
    const chosen = names.filter((name) => form.elements[name].value);
    const text = chosen.map((name) => `${name}=${encodeURIComponent(form.elements[name].value)}`).join("&");
    history.replaceState(null, "", text ? `#${text}` : location.pathname);
  };

  const fromAddress = () => {
    const claim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (claim instanceof HTMLDetailsElement) {
      claim.open = true;
      claim.scrollIntoView();
      return;
    }
    const chosen = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      if (chosen.has(name)) form.elements[name].value = chosen.get(name);
    }
  };

  const listScenarios = (claim) => {
    const more = claim.querySelector(".more");
    if (!claim.open || more === null || more.dataset.listed) return;
    more.dataset.listed = "1";
    const list = document.createElement("ul");
    list.className = "scenarios";
    for (const name of scenariosOf(claim)) {
      list.appendChild(document.createElement("li")).textContent = name;
    }
    more.after(list);
  };

  for (const claim of claims) claim.addEventListener("toggle", () => listScenarios(claim));
  form.addEventListener("input", () => { apply(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { fromAddress(); apply(); });
  fromAddress();
  apply();
  document.documentElement.dataset.ready = "1";
})();
