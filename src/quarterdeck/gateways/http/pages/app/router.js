/** Where we are: the part of the URL after `#`, so that every place has a link and the host serves one document. */

import { signal } from './lib.js';

/** @typedef {{view: string, id: string, query: URLSearchParams}} Place */

/** @returns {Place} */
function here() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/');
  return { view: view || 'inbox', id: decode(id), query: new URLSearchParams(query) };
}

/** @param {string} id */
function decode(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return '';
  }
}

export const place = signal(here());
addEventListener('hashchange', () => {
  place.value = here();
});

/** @param {string} view @param {string} [id] @param {Record<string, string>} [query] */
export const link = (view, id = '', query = {}) => {
  const told = new URLSearchParams(query).toString();
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ''}${told ? `?${told}` : ''}`;
};

/** Keeps in the address what was looked for here, for who comes back. @param {Record<string, string>} query */
export function keepQuery(query) {
  const { view, id } = place.peek();
  history.replaceState(history.state, '', link(view, id, query));
}

/** @param {string} view @param {string} [id] */
export function go(view, id = '') {
  location.hash = link(view, id);
}
