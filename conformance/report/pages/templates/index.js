"use strict";
/* Filters of the table of claims; the choice stands in the address, so that it can be shared. */
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const claims = Array.from(document.querySelectorAll("details.claim"));
  const words = new Map(claims.map((claim) => [claim, claim.textContent.toLowerCase()]));
  const names = ["text", "outcome", "level", "profile"];

  const apply = () => {
    const wanted = Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
    const terms = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const claim of claims) {
      const fits = ["outcome", "level", "profile"].every(
        (name) => !wanted[name] || claim.dataset[name] === wanted[name],
      );
      const visible = fits && terms.every((term) => words.get(claim).includes(term));
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

  form.addEventListener("input", () => { apply(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { fromAddress(); apply(); });
  fromAddress();
  apply();
  document.documentElement.dataset.ready = "1";
})();
