/** Short lines at the edge: what was done, what failed. Read aloud by screen readers. */

import { html, signal } from '../lib.js';
import { HostError } from '../net/connection.js';
import { visible } from './text.js';

const SHOWN_MS = 6_000;
let counter = 0;

/** @type {import('../vendor/signals.js').Signal<{id: number, text: string, kind: string}[]>} */
export const toasts = signal([]);

/** @param {string} text @param {'info' | 'error'} [kind] */
export function say(text, kind = 'info') {
  counter += 1;
  const id = counter;
  toasts.value = [...toasts.value.slice(-3), { id, text: visible(text), kind }];
  setTimeout(() => dismiss(id), kind === 'error' ? 2 * SHOWN_MS : SHOWN_MS);
}

/** @param {number} id */
function dismiss(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Tell what went wrong, with what the host advises. @param {unknown} error */
export function sayError(error) {
  const told = error instanceof Error ? error.message : String(error);
  say(error instanceof HostError && error.hint ? `${told} ${error.hint}` : told, 'error');
}

/** Do it, and say so if it fails. @template T @param {Promise<T>} doing @returns {Promise<T | undefined>} */
export async function attempt(doing) {
  try {
    return await doing;
  } catch (error) {
    sayError(error);
    return undefined;
  }
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      ({ id, text, kind }) =>
        html`<div class=${`toast ${kind}`} key=${id}><span>${text}</span><button class="quiet" aria-label="Dismiss" onClick=${() => dismiss(id)}>✕</button></div>`,
    )}
  </div>`;
}
