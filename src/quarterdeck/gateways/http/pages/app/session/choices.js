/** Which model answers, and what it may do without asking. */

import { options } from '../approvals/permission.js';
import { deck } from '../deck.js';
import { html } from '../lib.js';
import { shortModel } from '../parts/format.js';
import { visible } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';

/**
 * @typedef {import('../store/types.js').Session} Session
 * @typedef {import('../store/timeline.js').Timeline} Timeline
 */

export const MODES = { default: 'Ask', acceptEdits: 'Accept edits', plan: 'Plan', dontAsk: "Don't ask", bypassPermissions: 'Bypass' };

/** @param {{session: Session, timeline: Timeline, info: Record<string, any> | null}} props */
export function Choices({ session, timeline, info }) {
  /** @param {Record<string, any>} changes */
  const update = (changes) => attempt(deck().call('update_session', { session_id: session.id, ...changes }));
  const model = timeline.session.model ?? session.model ?? '';
  const mode = timeline.session.permission_mode ?? session.permission_mode ?? 'default';
  /** @type {{value: string, name?: string}[]} */
  const models = info?.models ?? [];
  const known = models.some((one) => one.value === model) ? models : [{ value: model, name: shortModel(model) || 'default' }, ...models];
  return html`<span class="choices">
    <label class="bare"><span class="sr">Permission mode</span><select value=${mode} onChange=${(/** @type {any} */ event) => update({ permission_mode: event.target.value })}>
      ${options(mode in MODES ? MODES : { ...MODES, [mode]: visible(mode) })}</select></label>
    <label class="bare"><span class="sr">Model</span><select value=${model} onChange=${(/** @type {any} */ event) => update({ model: event.target.value })}>
      ${known.map((one) => html`<option value=${one.value}>${visible(one.name || shortModel(one.value))}</option>`)}</select></label>
  </span>`;
}
