/** A session's state: a dot and a word, never colour alone. */

import { html } from '../lib.js';
import { Time } from './format.js';
import { visible } from './text.js';

/** What happens at the end of a state that has one. @type {Record<string, string>} */
const ENDS = { limited: 'until', crashed: 'restarts' };

/** @param {{session: import('../store/types.js').Session}} props */
export function StateMark({ session }) {
  const { state, state_reason: reason, state_until: until } = session;
  return html`<span class=${`state ${state}`} title=${reason ? visible(reason) : undefined}><i aria-hidden="true" />${state}</span>${
    until && Object.hasOwn(ENDS, state) ? html` <span class="dim until">${ENDS[state]} <${Time} at=${until} exact=${true} /></span>` : null
  }`;
}
