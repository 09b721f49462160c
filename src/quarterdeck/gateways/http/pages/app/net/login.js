/**
 * Who we are: a token, from the code in the URL that `quarterdeck serve` printed, or typed in.
 *
 * It is kept for this tab, or for this browser if one asks for it. Storage belongs to scheme, name and port together, so
 * a development server on another port does not see it; a cookie it would.
 */

import { api, KEY, keptToken } from './early.js';

/** The token that this tab has, after the code in the URL was used up; null: there is none. @returns {Promise<string | null>} */
export async function signedIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) {
    history.replaceState(null, '', location.pathname);
    const answer = await fetch(api('login'), { method: 'POST', body: JSON.stringify({ code }) });
    if (answer.ok) keep((await answer.json()).secret, { everywhere: false });
  }
  return keptToken();
}

/** @param {string} token @param {{everywhere: boolean}} where */
export function keep(token, { everywhere }) {
  sessionStorage.setItem(KEY, token);
  if (everywhere) localStorage.setItem(KEY, token);
}

export function forget() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}
