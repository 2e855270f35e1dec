// Light or dark, as the page that holds this frame is.
const theme = (() => {
  'use strict';
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');

  // Pages above this frame that it may read: none where the page is of another origin.
  const pages = [];
  try {
    for (let above = window; above !== above.parent; ) {
      above = above.parent;
      if (above.document.body) pages.push(above.document);
    }
  } catch {
    // What lies further up is out of sight.
  }

  const said = (page) => {
    const { documentElement: root, body } = page;
    if (root.dataset.theme === 'light' || root.dataset.theme === 'dark') return root.dataset.theme;
    if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === 'false' ? 'dark' : 'light';
    if (body.matches('.vscode-high-contrast-light, .vscode-light')) return 'light';
    if (body.matches('.vscode-dark, .vscode-high-contrast')) return 'dark';
    return { dark: 'dark', light: 'light' }[root.getAttribute('theme')]; // Colab
  };

  const current = () => pages.map(said).find(Boolean) ?? (prefersDark.matches ? 'dark' : 'light');

  const apply = () => {
    const changed = document.documentElement.dataset.theme !== current();
    document.documentElement.dataset.theme = current();
    document.documentElement.style.colorScheme = current();
    return changed;
  };
  apply();

  const watch = (redraw) => {
    apply(); // the page may have turned since this frame was opened
    const look = () => apply() && redraw();
    const observer = new MutationObserver(look);
    for (const page of pages) {
      observer.observe(page.documentElement, { attributes: true });
      observer.observe(page.body, { attributes: true });
    }
    prefersDark.addEventListener('change', look);
  };

  return { current, watch };
})();
