/** Find in the session: the browser's own search sees only what is drawn, this one all that is loaded, and loads the rest. */

import { isShown } from '../items/item.js';
import { html, useEffect, useState } from '../lib.js';
import { attempt } from '../parts/toasts.js';
import { saidSoFar, textOf } from '../store/timeline.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {(index: number, id?: string) => void} Jump To a row of the conversation, or to what is inside it.
 */

/** An item that has changed is another object. @type {WeakMap<Item, string>} */
const texts = new WeakMap();

/** Everything in an item that can be read. @param {Item} item */
function textIn(item) {
  const known = texts.get(item) ?? readIn(item);
  texts.set(item, known);
  return known;
}

/** @param {Item} item */
function readIn(item) {
  const parts = [item.about, item.label, item.reason, typeof item.text === 'string' ? item.text : ''];
  if (item.type === 'text' || item.type === 'thinking') parts.push(saidSoFar(item));
  else if (item.type === 'prompt') parts.push(textOf(item.text));
  else if (item.type === 'tool_call') parts.push(JSON.stringify(item.input ?? {}), textOf(item.output));
  else if (item.type === 'plan_review') parts.push(item.plan);
  return parts.filter(Boolean).join('\n').toLowerCase();
}

/** Where it is found: in which row, and which item in there. @typedef {{index: number, id: string}} Hit */

/** @param {string} word @param {Item[]} items @param {import('./context.js').SessionContext} context @returns {Hit[]} */
function hitsOf(word, items, context) {
  /** @type {(item: Item, index: number) => Hit[]} */
  const within = (item, index) => [
    ...(textIn(item).includes(word) ? [{ index, id: item.id }] : []),
    ...context.children(item.id).filter(isShown).flatMap((child) => within(child, index)),
  ];
  return items.flatMap(within);
}

/** @param {{items: Item[], context: import('./context.js').SessionContext, store: import('../store/session.js').SessionStore, jump: Jump, onClose: () => void}} props */
export function Find({ items, context, store, jump, onClose }) {
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const word = wanted.trim().toLowerCase();
  const found = word ? hitsOf(word, items, context) : [];
  const hit = found[Math.min(at, found.length - 1)];
  useEffect(() => {
    if (hit) jump(hit.index, hit.id);
  }, [hit?.id, word]);
  /** @param {number} step */
  const move = (step) => found.length && setAt((at + step + found.length) % found.length);
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter') move(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  return html`<div class="find" role="search">
    <input type="search" aria-label="Find in this session" placeholder="Find in this session" value=${wanted} autofocus onKeyDown=${pressed}
      ref=${(/** @type {HTMLElement | null} */ element) => !wanted && element?.focus()}
      onInput=${(/** @type {any} */ event) => {
        setWanted(event.target.value);
        setAt(0);
      }} />
    <span class="dim" role="status">${word ? (found.length ? `${Math.min(at, found.length - 1) + 1} of ${found.length}` : 'nothing found') : ''}</span>
    ${store.hasEarlier.value && html`<button class="quiet" disabled=${store.loadingEarlier.value > 0} title="Only the newest items are loaded" onClick=${() => attempt(store.loadEarlier())}>${store.loadingEarlier.value > 0 ? 'Loading…' : 'Search earlier items'}</button>`}
    <button class="quiet" aria-label="Previous" onClick=${() => move(-1)}>↑</button><button class="quiet" aria-label="Next" onClick=${() => move(1)}>↓</button>
    <button class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
  </div>`;
}
