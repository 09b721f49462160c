/** The page begins here: who are we, then the frame around all views. */

import { watchSettled } from './approvals/deciding.js';
import { current, Deck } from './deck.js';
import { effect, html, render, signal, useEffect } from './lib.js';
import { forget, signedIn } from './net/login.js';
import { Guard } from './parts/guard.js';
import { KeySheet, listenToKeys, sheetOpen, useKeys } from './parts/keys.js';
import { loadMarkdown } from './parts/markdown.js';
import { Navigation } from './parts/navigation.js';
import { watchInbox } from './parts/notifications.js';
import { diffStyle } from './parts/preferences.js';
import { Toasts, sayError } from './parts/toasts.js';
import { go, place } from './router.js';
import { SignIn } from './views/sign_in.js';

/** Each is fetched when it is looked at; those that people begin with are on their way already. @type {Record<string, () => Promise<any>>} */
const VIEWS = {
  inbox: async () => (await import('./views/inbox.js')).Inbox,
  sessions: async () => (await import('./views/sessions.js')).Sessions,
  session: async () => (await import('./views/session.js')).SessionView,
  usage: async () => (await import('./views/usage.js')).Usage,
  policy: async () => (await import('./views/policy.js')).Policy,
  audit: async () => (await import('./views/audit.js')).Audit,
  settings: async () => (await import('./views/settings.js')).Settings,
};
/** @type {import('./vendor/signals.js').Signal<Record<string, any>>} */
const loaded = signal({});

/** @param {string} view */
async function load(view) {
  const found = await VIEWS[view]();
  loaded.value = { ...loaded.value, [view]: found };
}

/** @param {string} token */
export function enter(token) {
  const deck = new Deck(token);
  deck.open();
  if (place.value.view === 'session') deck.session(place.value.id); // asked for while its view is on its way
  current.value = deck;
  watchInbox(deck.host);
  watchSettled(deck.host);
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

/** @param {{view: string, id: string}} props */
function View({ view, id }) {
  const Shown = loaded.value[view];
  const again = current.value?.connection.reconnects.value;
  useEffect(() => {
    if (!Shown) load(view).catch(sayError);
  }, [view, again]);
  return Shown ? html`<${Shown} id=${id} />` : null;
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
    <main id="main" tabindex="-1" class=${`view ${view}`}><${Guard} key=${view} what="This view"><${View} id=${id} view=${view} /><//></main>
    <${Toasts} /><${KeySheet} />
  </div>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

async function begin() {
  if (Object.hasOwn(VIEWS, place.value.view)) load(place.value.view).catch(() => {}); // tried again when it is drawn
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
