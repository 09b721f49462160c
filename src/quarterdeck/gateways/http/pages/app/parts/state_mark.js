/** A session's state: a dot and a word, never colour alone. */

import { html } from '../lib.js';
import { visible } from './text.js';

/** @param {{state: string, reason?: string}} props */
export function StateMark({ state, reason }) {
  return html`<span class=${`state ${state}`} title=${reason ? visible(reason) : undefined}><i aria-hidden="true" />${state}</span>`;
}
