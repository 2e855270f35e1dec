// Finds the site's own copy of the scripts through the page that holds this frame.
(() => {
  'use strict';
  const folders = [];
  let onSite = false;
  try {
    const page = parent.document;
    const root = page.documentElement.dataset.content_root;
    onSite = root !== undefined;
    if (onSite) folders.push(new URL(`${root}_static/glassbox/`, page.baseURI));
    const lab = page.getElementById('jupyter-config-data');
    if (lab) {
      const base = JSON.parse(lab.textContent).baseUrl || '/';
      folders.push(new URL(`${base}static/glassbox/`, page.baseURI));
    }
  } catch {
    // A page of another origin keeps its addresses to itself: there is nothing to load.
  }
  const missing = () => {
    document.getElementById('note').textContent = onSite
      ? 'The view could not be loaded: check your connection and reload the page. Its weights are in the table.'
      : 'Run this cell to draw the view.';
    try {
      frameElement.style.height = '52px';
      frameElement.parentElement.querySelector('details').open = true;
    } catch {
      // The page of another origin keeps its table folded.
    }
  };
  const load = () => {
    const folder = folders.shift();
    if (!folder) return missing();
    const script = document.createElement('script');
    script.src = new URL('attention-views.js', folder);
    script.onerror = load;
    document.head.append(script);
  };
  whenSeen(load);
})();
