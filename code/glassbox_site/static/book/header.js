// The header: buttons that say what they do, contents that stay hidden, and a drawer that closes.
"use strict";
{
  // The theme's tooltips stay where a finger or Esc leaves them; the browser's own do not.
  for (const button of document.querySelectorAll('[data-bs-toggle="tooltip"]')) button.removeAttribute("data-bs-toggle");
  // For their sake, it also takes the focus from a button that was pressed, and Enter works only once.
  for (const button of document.querySelectorAll(".theme-switch-button, .search-button, .primary-toggle, .secondary-toggle")) button.blur = () => {};
  for (const link of document.querySelectorAll("a.headerlink")) link.ariaLabel = `Link to ${decodeURIComponent(link.hash.slice(1))}`;

  const page = document.documentElement;
  const names = { light: "light", dark: "dark", auto: "as your system" };
  const say = () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const modes = dark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];  // as the theme goes through them
    const now = modes.indexOf(page.dataset.mode);
    const words = `Colours: ${names[modes[now]]}. Next: ${names[modes[(now + 1) % 3]]}`;
    for (const button of document.querySelectorAll(".theme-switch-button")) {
      button.title = words;
      button.ariaLabel = words;
    }
  };
  new MutationObserver(say).observe(page, { attributeFilter: ["data-mode"] });
  say();

  const drawer = document.getElementById("pst-secondary-sidebar-modal");  // of a page's sections, on a narrow screen
  drawer?.addEventListener("click", ({ target }) => { if (target.closest("a")) drawer.close(); });

  const contents = document.getElementById("pst-primary-sidebar");
  const hidden = "pst-sidebar-hidden";
  if (contents) {
    const front = document.querySelector(".gb-front");  // there they wait behind their button, on every visit
    if (!front) contents.classList.toggle(hidden, page.dataset.contents === "hidden");
    requestAnimationFrame(() => delete page.dataset.contents);  // told before the first paint, by layout.html
    const wide = matchMedia("(min-width: 62rem)");  // on a narrow page it is a drawer
    const tell = () => {
      for (const toggle of document.querySelectorAll(".primary-toggle")) toggle.ariaExpanded = wide.matches ? !contents.classList.contains(hidden) : null;
    };
    wide.addEventListener("change", tell);
    tell();
    new MutationObserver(() => {
      tell();
      if (front || !wide.matches) return;
      glassboxMemory.change((kept) => { kept.contents = contents.classList.contains(hidden) ? "hidden" : "shown"; });
    }).observe(contents, { attributeFilter: ["class"] });
  }
}
