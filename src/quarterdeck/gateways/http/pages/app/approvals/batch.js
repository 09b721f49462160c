/** Several at once: choose which, see exactly what that covers, then decide those and no others. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { visible, baseName, marked } from '../parts/text.js';
import { sayError, say } from '../parts/toasts.js';
import { RiskMark } from './approval.js';
import { sendDecision } from './deciding.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/** @param {{onClose: () => void}} props */
export function Batch({ onClose }) {
  const { host } = deck();
  const waiting = host.inbox.value.filter((one) => one.kind === 'permission');
  const [session, setSession] = useState('');
  const [tool, setTool] = useState(waiting[0]?.tool ?? '');
  const [covered, setCovered] = useState(/** @type {Approval[]} */ ([]));
  const filter = { kind: 'permission', ...(session ? { session } : {}), ...(tool ? { tool } : {}) };
  useEffect(() => {
    let wanted = true;
    const asking = deck().call('decide_many', { filter, decision: { decision: 'allow' }, dry_run: true });
    asking.then((found) => wanted && setCovered(found.approvals)).catch(sayError);
    return () => {
      wanted = false;
    };
  }, [session, tool, host.approvals.value]);
  /** @param {'allow' | 'deny'} decision */
  const decideAll = async (decision) => {
    // By id: what has come since the preview was drawn is not in it.
    const decided = await Promise.allSettled(covered.map((one) => sendDecision(one, { decision })));
    const done = decided.filter((one) => one.status === 'fulfilled').length;
    const missed = decided.length - done;
    say(`${done} ${decision === 'allow' ? 'allowed' : 'denied'}${missed ? `, ${missed} were decided by others first` : ''}.`);
    onClose();
  };
  const tools = [...new Set(waiting.map((one) => one.tool ?? ''))].sort();
  const sessions = [...new Set(waiting.map((one) => one.session_id))];
  return html`<${Dialog} title="Decide several permissions" onClose=${onClose} wide=${true}>
    <div class="filters">
      <label>Tool <select value=${tool} onChange=${(/** @type {any} */ event) => setTool(event.target.value)}><option value="">any</option>${tools.map((one) => html`<option value=${one}>${visible(one)}</option>`)}</select></label>
      <label>Session <select value=${session} onChange=${(/** @type {any} */ event) => setSession(event.target.value)}><option value="">any</option>
        ${sessions.map((id) => html`<option value=${id}>${visible(host.sessions.value.get(id)?.name || id.slice(0, 8))}</option>`)}</select></label>
    </div>
    <h3>This covers ${covered.length}</h3>
    <ul class="covered">${covered.map((one) => html`<li key=${one.id}>
      <span class="what">${marked(one.summary || one.tool)}</span> <${RiskMark} risk=${one.risk} />
      <small class="dim">${marked(host.session(one)?.name || baseName(host.session(one)?.cwd))}</small></li>`)}</ul>
    <div class="buttons">
      <button class="primary" disabled=${!covered.length} onClick=${() => decideAll('allow')}>Allow these ${covered.length} once</button>
      <button class="danger" disabled=${!covered.length} onClick=${() => decideAll('deny')}>Deny these ${covered.length}</button>
    </div>
  <//>`;
}
