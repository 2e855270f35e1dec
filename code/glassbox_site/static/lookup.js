// Looking up: what does not contain the words in the field is hidden, and letters above nothing;
// whoever goes to something hidden sees everything again.
"use strict";
{
  const field = document.querySelector(".gb-lookup input");
  const status = document.querySelector(".gb-lookup [role=status]");
  const article = field.closest(".bd-article");
  // "d_k" is also found in a formula, which has no underscore; "quantization" is spelled with an s.
  const bare = (text) => text.toLowerCase().replace(/[–‑]/g, "-").replace(/iz(?=[ae])/g, "is").replace(/[{}\\_]/g, "").replace(/\s+/g, " ");
  // A term goes with the names beside it and their definition.
  const entries = [...article.querySelectorAll("dl.glossary > dt, .citation, .gb-cards tbody tr")].map((first) => {
    const parts = [first];
    while (parts.at(-1).localName === "dt") parts.push(parts.at(-1).nextElementSibling);
    return { parts, text: bare(parts.map((part) => part.textContent).join(" ")) };
  });
  const groups = [...article.querySelectorAll("dl.glossary, .citation-list, .pst-scrollable-table-container:has(.gb-cards)")];
  function find() {
    const words = bare(field.value).split(" ").filter(Boolean);
    let found = 0;
    for (const { parts, text } of entries) {
      const fits = words.every((word) => text.includes(word));
      found += fits;
      for (const part of parts) part.hidden = !fits;
    }
    for (const group of groups) {
      const empty = !group.querySelector(":is(dt, .citation, tbody tr):not([hidden])");
      group.hidden = empty;
      const heading = group.previousElementSibling;
      if (!heading.matches(".gb-letter")) continue;
      heading.hidden = empty;
      const letter = article.querySelector(`.gb-letters a[href="#${heading.id}"]`);
      letter.ariaDescription = empty ? "Nothing below this letter has the words that are looked up." : null;
    }
    status.textContent = words.length ? `${found} of ${entries.length}` : "";
  }
  field.addEventListener("input", find);

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target?.closest("[hidden]")) return;
    field.value = "";
    find();
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", ({ target, defaultPrevented }) => {
    if (!defaultPrevented && target.closest("a")?.href === location.href) reveal();  // the hash stays the same
  });
}
