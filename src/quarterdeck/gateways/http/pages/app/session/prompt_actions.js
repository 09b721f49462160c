/** At a message: fork from here, or set files back to what they were. */

import { deck } from '../deck.js';
import { html } from '../lib.js';
import { visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { go } from '../router.js';

/** @typedef {import('../store/types.js').Item} Item */

/** @param {string} session @returns {(item: Item) => any} */
export function actionsOf(session) {
  return (item) => {
    if (item.type === 'prompt' && item.source === 'us') {
      return html`<div class="at-message"><button class="quiet" onClick=${() => rewind(session, item)}>Rewind files to here</button></div>`;
    }
    if (item.type === 'text' && item.done) {
      return html`<div class="at-message"><button class="quiet" onClick=${() => forkAt(session, item)}>Fork from here</button></div>`;
    }
    return null;
  };
}

/** First what it would change, then the question. @param {string} session @param {Item} item */
async function rewind(session, item) {
  const preview = await attempt(deck().call('rewind', { session_id: session, to: item.id, dry_run: true }));
  if (preview === undefined) return;
  const files = preview.filesChanged ?? preview.files_changed ?? [];
  const listed = files.map((/** @type {string} */ path) => `\n${visible(path)}`).join('');
  if (!files.length) say('No file has changed since then.');
  else if (confirm(`Restore ${files.length} files to their state before this prompt?${listed}`)) {
    const done = await attempt(deck().call('rewind', { session_id: session, to: item.id, dry_run: false }));
    if (done !== undefined) say(`${files.length} files were set back.`);
  }
}

/** @param {string} session @param {Item} item */
async function forkAt(session, item) {
  const made = await attempt(deck().call('fork', { session_id: session, at: item.id }));
  if (made) go('session', made.id);
}
