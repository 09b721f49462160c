/** A session as a file, and a file as a session. */

import { deck } from '../deck.js';
import { api } from '../net/early.js';

/** @typedef {import('../store/types.js').Session} Session */

/** By the ending of the file's name. */
export const FORMATS = { md: 'Markdown', html: 'HTML', ndjson: 'NDJSON' };
/** A long file is sent in parts of this size. */
const PART = 4 * 1024 * 1024;

const headers = () => ({ authorization: `Bearer ${deck().connection.token}` });

/** @param {Response} answer */
async function checked(answer) {
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Error([told.detail ?? 'The host refused this.', told.hint].filter(Boolean).join(' '));
}

/** All of it, however long: the browser keeps what arrives. @param {Session} session @param {string} format */
export async function exportAs(session, format) {
  const answer = await checked(await fetch(`${api(`sessions/${encodeURIComponent(session.id)}/export`)}?format=${format}`, { headers: headers() }));
  const url = URL.createObjectURL(await answer.blob());
  const save = document.createElement('a');
  save.href = url;
  save.download = `${(session.name || session.id).replace(/[^\w.-]+/g, '-').slice(0, 80)}.${format}`;
  save.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * @param {File} file @param {{name: string, cwd: string}} given @param {(share: number) => void} told
 * @returns {Promise<Session>}
 */
export async function importFile(file, given, told) {
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
  let id = '';
  let offset = 0;
  for (;;) {
    const part = file.slice(offset, offset + PART);
    const more = offset + part.size < file.size;
    const asked = { ...given, import_id: id, offset: String(offset), more: String(more) };
    const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
    const sent = { method: 'POST', headers: { ...headers(), 'content-type': 'application/x-ndjson', 'idempotency-key': `${key}-${offset}` }, body: part };
    const answer = await (await checked(await fetch(`${api('sessions/import')}?${query}`, sent))).json();
    if (answer.session) return answer.session;
    id = answer.import_id;
    offset += part.size;
    told(offset / file.size);
  }
}
