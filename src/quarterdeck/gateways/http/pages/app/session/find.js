/** Find in the session: the browser's own search sees only what is drawn, this one sees all that is loaded. */

import { html, useEffect, useState } from '../lib.js';
import { saidSoFar, textOf } from '../store/timeline.js';

/** @typedef {import('../store/types.js').Item} Item */

/** Everything in an item that can be read. @param {Item} item */
export function textIn(item) {
  const parts = [item.about, item.label, item.reason, typeof item.text === 'string' ? item.text : ''];
  if (item.type === 'text' || item.type === 'thinking') parts.push(saidSoFar(item));
  else if (item.type === 'prompt') parts.push(textOf(item.text));
  else if (item.type === 'tool_call') parts.push(JSON.stringify(item.input ?? {}), textOf(item.output));
  else if (item.type === 'plan_review') parts.push(item.plan);
  return parts.filter(Boolean).join('\n').toLowerCase();
}

/** @param {{items: Item[], jump: (index: number) => void, onClose: () => void}} props */
export function Find({ items, jump, onClose }) {
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const word = wanted.trim().toLowerCase();
  const found = word ? items.flatMap((item, index) => (textIn(item).includes(word) ? [index] : [])) : [];
  const index = found[Math.min(at, found.length - 1)];
  useEffect(() => {
    if (index !== undefined) jump(index);
  }, [index, word]);
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
    <button class="quiet" aria-label="Previous" onClick=${() => move(-1)}>↑</button><button class="quiet" aria-label="Next" onClick=${() => move(1)}>↓</button>
    <button class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
  </div>`;
}
