/**
 * Who we are: a token, from the code in the URL that `quarterdeck serve` printed, or typed in.
 *
 * It is kept for this tab, or for this browser if one asks for it. Storage belongs to scheme, name and port together, so
 * a development server on another port does not see it; a cookie it would.
 */

const KEY = 'quarterdeck.token';
/** The folder that everything of the host is below. */
export const BASE = new URL('../../', import.meta.url);

/** @param {string} path */
export const api = (path) => new URL(`v1/${path}`, BASE).href;

export const socketUrl = () => api('ws').replace(/^http/, 'ws');

/** The token that this tab has, after the code in the URL was used up; null: there is none. @returns {Promise<string | null>} */
export async function signedIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) {
    history.replaceState(null, '', location.pathname);
    const answer = await fetch(api('login'), { method: 'POST', body: JSON.stringify({ code }) });
    if (answer.ok) keep((await answer.json()).secret, { everywhere: false });
  }
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
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
