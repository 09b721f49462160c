/** The page begins here: who are we, then the frame around all views. */

import { watchSettled } from './approvals/deciding.js';
import { current, Deck, deck } from './deck.js';
import { effect, html, render, useEffect } from './lib.js';
import { forget, signedIn } from './net/login.js';
import { Guard } from './parts/guard.js';
import { KeySheet, listenToKeys, sheetOpen, useKeys } from './parts/keys.js';
import { loadMarkdown } from './parts/markdown.js';
import { Navigation } from './parts/navigation.js';
import { watchInbox } from './parts/notifications.js';
import { diffStyle } from './parts/preferences.js';
import { visible } from './parts/text.js';
import { Toasts } from './parts/toasts.js';
import { go, place } from './router.js';
import { Inbox } from './views/inbox.js';
import { later } from './views/later.js';
import { SessionView } from './views/session.js';
import { Sessions } from './views/sessions.js';
import { SignIn } from './views/sign_in.js';

/** @type {Record<string, any>} */
const VIEWS = {
  inbox: Inbox,
  sessions: Sessions,
  session: SessionView,
  usage: later('Usage'),
  policy: later('Policy'),
  audit: later('Audit'),
  settings: later('Settings'),
};

/** @param {string} token */
export function enter(token) {
  const entered = new Deck(token);
  entered.open();
  current.value = entered;
  watchInbox(entered.host);
  watchSettled(entered.host);
}

export function leave() {
  forget();
  current.value?.close();
  current.value = null;
}

function App() {
  if (current.value === null) return html`<${SignIn} enter=${enter} />`;
  if (current.value.connection.state.value === 'refused') return html`<${SignIn} enter=${enter} refused=${true} />`;
  return html`<${Deckhouse} />`;
}

/** Everything for somebody who is signed in. */
function Deckhouse() {
  const { id } = place.value;
  const view = Object.hasOwn(VIEWS, place.value.view) ? place.value.view : 'inbox';
  useKeys('Everywhere', [
    { keys: '?', does: 'Show all keys', run: () => (sheetOpen.value = true) },
    { keys: 'g i', does: 'Inbox', run: () => go('inbox') },
    { keys: 'g s', does: 'Sessions', run: () => go('sessions') },
    { keys: 'g u', does: 'Usage', run: () => go('usage') },
    { keys: 'g p', does: 'Policy', run: () => go('policy') },
    { keys: 'g a', does: 'Audit', run: () => go('audit') },
    { keys: 'g ,', does: 'Settings', run: () => go('settings') },
    { keys: 'c', does: 'Start a session', run: () => go('sessions', 'new') },
    { keys: 's', does: 'Diffs side by side or unified', run: () => (diffStyle.value = diffStyle.value === 'split' ? 'unified' : 'split') },
  ]);
  useEffect(() => {
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [view]);
  return html`<div class="deck">
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <${Navigation} />
    <main id="main" tabindex="-1" class=${`view ${view}`}><${Guard} key=${view} what="This view"><${VIEWS[view]} id=${id} /><//></main>
    <${Failed} /><${Toasts} /><${KeySheet} />
  </div>`;
}

/** Without the lists there is little to see: it says why, until they are there. */
function Failed() {
  const { host } = deck();
  if (!host.problem.value) return null;
  return html`<p class="lists-failed" role="alert">The host did not list its sessions and requests: ${visible(host.problem.value)} <button onClick=${() => host.fetch()}>Try again</button></p>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

async function begin() {
  if (place.value.view === 'session') void loadMarkdown();
  const token = await signedIn();
  if (token !== null) enter(token);
  listenToKeys();
  const root = document.getElementById('page');
  if (root) render(html`<${App} />`, root);
  effect(() => {
    document.documentElement.dataset.link = current.value?.connection.state.value ?? 'none';
  });
}

void begin();
