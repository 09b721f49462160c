/** A word from the desktop when something waits and nobody looks at the page. */

import { effect } from '../lib.js';
import { go } from '../router.js';
import { notify } from './preferences.js';
import { visible } from './text.js';

/** @param {import('../store/host.js').HostStore} host */
export function watchInbox(host) {
  /** @type {Set<string> | null} Those that were there when we came are no news. */
  let known = null;
  return effect(() => {
    const waiting = host.inbox.value;
    if (!host.loaded.value) return;
    const news = known === null ? [] : waiting.filter((one) => !known?.has(one.id));
    known = new Set(waiting.map((one) => one.id));
    if (notify.peek() && document.visibilityState === 'hidden') for (const approval of news) tell(host, approval);
  });
}

/** @param {import('../store/host.js').HostStore} host @param {import('../store/types.js').Approval} approval */
function tell(host, approval) {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  const session = host.session(approval);
  const title = `${visible(session?.name || 'A session')} waits for you`;
  const shown = new Notification(title, { body: visible(approval.summary ?? approval.kind), tag: approval.id });
  shown.onclick = () => {
    window.focus();
    go('inbox', approval.id);
    shown.close();
  };
}
