// Three small things a page cannot do without a script: show what a term means where it is used,
// let the keyboard scroll what is wider than the column, and open what is folded when it is the
// target of a link.

// The definitions are in the page, hidden at its end, and each link is described by its own.
const tooltip = document.createElement("div");
tooltip.className = "gb-tooltip";
tooltip.setAttribute("role", "tooltip");
tooltip.hidden = true;
document.body.append(tooltip);

function show(link, definition) {
  tooltip.replaceChildren(...definition.cloneNode(true).childNodes);
  tooltip.hidden = false;
  const at = link.getClientRects()[0];
  const left = Math.min(at.left, document.documentElement.clientWidth - tooltip.offsetWidth - 16);
  const below = at.bottom + tooltip.offsetHeight + 8 < window.innerHeight;
  tooltip.style.left = `${Math.max(16, left) + window.scrollX}px`;
  tooltip.style.top = `${(below ? at.bottom + 6 : at.top - tooltip.offsetHeight - 6) + window.scrollY}px`;
}

let leaving;
const hide = () => { tooltip.hidden = true; };
const hideSoon = () => { leaving = setTimeout(hide, 200); };  // time to move onto the definition
const stay = () => clearTimeout(leaving);

for (const link of document.querySelectorAll("a:has(> .std-term)")) {
  const definition = document.getElementById(`def-${link.hash.slice(1)}`);
  if (!definition) continue;
  link.setAttribute("aria-describedby", definition.id);
  const open = () => { stay(); show(link, definition); };
  link.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && open());
  link.addEventListener("focus", open);
  link.addEventListener("pointerleave", hideSoon);
  link.addEventListener("blur", hide);
}
tooltip.addEventListener("pointerenter", stay);
tooltip.addEventListener("pointerleave", hideSoon);
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

// What scrolls takes part in the order of the Tab key, as long as it scrolls.
const scrollers = document.querySelectorAll("pre, .gb-formula, .pst-scrollable-table-container, .cell_output > *, .gb-scroll");
const mark = () => {
  for (const box of scrollers) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
addEventListener("resize", mark);
document.fonts.ready.then(mark);

const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
};
addEventListener("hashchange", unfold);
unfold();
