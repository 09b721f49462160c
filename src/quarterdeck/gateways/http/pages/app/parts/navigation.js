/** The way between views, and how the connection does. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { link, place } from '../router.js';
import { Icon } from './icons.js';
import { sheetOpen } from './keys.js';

const PLACES = [
  ['inbox', 'Inbox'],
  ['sessions', 'Sessions'],
  ['usage', 'Usage'],
  ['policy', 'Policy'],
  ['audit', 'Audit'],
  ['settings', 'Settings'],
];

export function Navigation() {
  const { host } = deck();
  const waiting = host.inbox.value.length;
  const { view } = place.value;
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ''}Quarterdeck`;
  }, [waiting]);
  return html`<nav class="navigation" aria-label="Views">
    <div class="brand"><${Icon} name="helm" /><span>Quarterdeck</span></div>
    <ul>
      ${PLACES.map(([name, title]) => {
        const here = view === name || (name === 'sessions' && view === 'session');
        return html`<li><a href=${link(name)} aria-current=${here ? 'page' : undefined}>
          <${Icon} name=${name} /><span>${title}</span>
          ${name === 'inbox' && waiting ? html`<b class="count" aria-label=${`${waiting} waiting`}>${waiting}</b>` : null}
        </a></li>`;
      })}
    </ul>
    <div class="foot"><${Link} /><button class="quiet" onClick=${() => (sheetOpen.value = true)} title="Keys (?)"><kbd>?</kbd><span>Keys</span></button></div>
  </nav>`;
}

/** Whether the host is there; after a break, that it is there again and nothing was missed. */
function Link() {
  const { connection, host } = deck();
  const state = connection.state.value;
  const again = connection.reconnects.value;
  const unsent = connection.unsent.value;
  const [back, setBack] = useState(false);
  useEffect(() => {
    if (!again) return undefined;
    setBack(true);
    const timer = setTimeout(() => setBack(false), 8_000);
    return () => clearTimeout(timer);
  }, [again]);
  const told = state === 'online' ? (back ? 'Reconnected' : host.loaded.value ? 'Connected' : 'Loading') : state === 'connecting' ? 'Connecting' : 'Reconnecting';
  const more = unsent ? `, ${unsent} to be sent` : '';
  return html`<p class=${`link ${state}${back ? ' back' : ''}`} role="status" data-reconnects=${again}><i aria-hidden="true" /><span>${told}${more}</span></p>`;
}
