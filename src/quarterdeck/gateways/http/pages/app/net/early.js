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

/** How many rows of a list come at once. */
export const PAGE = 200;

/**
 * @typedef {{op: string, ref?: string | number | null, [field: string]: any}} Message
 * @typedef {{socket: WebSocket, token: string, heard: Message[][], asked: Message[], closed: number | null}} Begun
 */
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

/** What the first picture needs, asked for in the order in which the stores would: the lists after the stream of changes has begun. @param {Begun} one @param {Message} message */
function ask(one, message) {
  if (message.op !== 'hello') return;
  /** @param {string} op @param {Record<string, any>} fields */
  const call = (op, fields) => one.asked.push({ op, ref: -1 - one.asked.length, ...fields });
  const before = one.asked.length;
  if (message.ref === undefined) {
    const session = /^#\/session\/([\w-]+)/.exec(location.hash);
    one.asked.push({ op: 'subscribe', ref: 'host', session: '*', after: null });
    if (session) call('get_timeline', { session_id: session[1] });
  } else if (message.ref === 'host') {
    for (const op of ['list_sessions', 'list_approvals']) call(op, { limit: PAGE, cursor: null });
  }
  for (const asked of one.asked.slice(before)) one.socket.send(JSON.stringify(asked));
}

function begin() {
  const token = location.hash.includes('code=') ? null : keptToken();
  if (token === null) return;
  const socket = new WebSocket(socketUrl(), protocols(token));
  /** @type {Begun} */
  const one = { socket, token, heard: [], asked: [], closed: null };
  socket.onmessage = (event) => {
    const messages = JSON.parse(event.data);
    one.heard.push(messages);
    for (const message of messages) ask(one, message);
  };
  socket.onclose = (event) => {
    one.closed = event.code;
  };
  begun = one;
}

begin();
