/**
 * Where the host is and who we are; and a connection that is opened while the rest of the page is still on its way.
 * Imports nothing, so that it runs first.
 */

export const KEY = 'quarterdeck.token';
/** The folder that everything of the host is below. */
export const BASE = new URL('../../', import.meta.url);

/** @param {string} path */
export const api = (path) => new URL(`v1/${path}`, BASE).href;

export const socketUrl = () => api('ws').replace(/^http/, 'ws');

/** @returns {string | null} */
export const keptToken = () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);

/** @param {string} token */
export const protocols = (token) => ['quarterdeck.v1', `bearer.${token}`];

/** @typedef {{socket: WebSocket, token: string, heard: MessageEvent[], closed: number | null}} Begun */
/** @type {Begun | null} */
let begun = null;

/** What was opened with this token, and what has come through it; null: nothing was. @param {string} token @returns {Begun | null} */
export function takeBegun(token) {
  const found = begun;
  begun = null;
  if (found === null || found.token === token) return found;
  found.socket.close();
  return null;
}

function begin() {
  const token = location.hash.includes('code=') ? null : keptToken();
  if (token === null) return;
  const socket = new WebSocket(socketUrl(), protocols(token));
  /** @type {Begun} */
  const one = { socket, token, heard: [], closed: null };
  socket.onmessage = (event) => one.heard.push(event);
  socket.onclose = (event) => {
    one.closed = event.code;
  };
  begun = one;
}

begin();
