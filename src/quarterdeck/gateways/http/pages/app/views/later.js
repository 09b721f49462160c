/** A view that is fetched when it is opened. */

import { html, signal, useEffect } from '../lib.js';

/** @typedef {typeof import('./overviews.js')} Overviews */

/** @type {import('../vendor/signals.js').Signal<Overviews | null>} */
const overviews = signal(null);
/** @type {Promise<void> | null} */
let loading = null;
const RETRY_MS = 1_000;

function loadOverviews() {
  loading ??= import('./overviews.js').then(
    (found) => {
      overviews.value = found;
    },
    () => {
      loading = null; // the line is broken
      setTimeout(loadOverviews, RETRY_MS);
    },
  );
}

/** @param {keyof Overviews} name */
export function later(name) {
  return () => {
    useEffect(loadOverviews, []);
    const found = overviews.value;
    return found === null ? html`<p class="empty wide">Loading…</p>` : html`<${found[name]} />`;
  };
}
