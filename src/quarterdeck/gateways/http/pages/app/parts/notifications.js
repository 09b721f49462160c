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
  const session = host.session(approval);
  const title = `${visible(session?.name || 'A session')} waits for you`;
  const shown = notification(title, { body: visible(approval.summary ?? approval.kind), tag: approval.id });
  if (shown === null) return;
  shown.onclick = () => {
    window.focus();
    go('inbox', approval.id);
    shown.close();
  };
}

/** Null if this browser shows none: those of phones have the name, and throw. @param {string} title @param {NotificationOptions} options */
export function notification(title, options) {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return null;
  try {
    return new Notification(title, options);
  } catch {
    return null;
  }
}

/** Asks the browser for permission and shows one, so that it is certain; why not, if it cannot. @returns {Promise<string>} */
export async function tryNotification() {
  const none = 'This browser cannot show notifications from a page.';
  if (!('Notification' in globalThis)) return none;
  if ((await Notification.requestPermission()) !== 'granted') return 'The browser does not allow notifications for this page.';
  return notification('Quarterdeck', { body: 'You will see here when something waits for you.', tag: 'quarterdeck' }) ? '' : none;
}
