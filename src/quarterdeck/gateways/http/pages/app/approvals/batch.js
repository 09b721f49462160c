/** Several at once: choose which, see exactly what that covers, then decide those and no others. */

import { deck } from '../deck.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { HostError } from '../net/connection.js';
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
  const [round, setRound] = useState(0);
  const preview = usePreview(session, tool, round);
  const covered = useWaiting(preview);
  const isMeant = (/** @type {Approval} */ one) => (!session || one.session_id === session) && (!tool || one.tool === tool);
  const come = preview ? waiting.filter((one) => isMeant(one) && !preview.some(({ id }) => id === one.id)).length : 0;
  /** @param {'allow' | 'deny'} decision */
  const decideAll = async (decision) => {
    const answers = await Promise.allSettled(covered.map((one) => sendDecision(one, { decision })));
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const failed = refused.filter((error) => !wasDecided(error));
    const late = refused.length - failed.length;
    say(`${answers.length - refused.length} ${decision === 'allow' ? 'allowed' : 'denied'}${late ? `, ${late} decided by others first` : ''}${failed.length ? `, ${failed.length} refused by the host` : ''}.`);
    if (failed.length) sayError(failed[0]);
    else onClose();
  };
  const tools = [...new Set(waiting.map((one) => one.tool ?? ''))].sort();
  const sessions = [...new Set(waiting.map((one) => one.session_id))];
  return html`<${Dialog} title="Decide several permissions" onClose=${onClose} wide=${true}>
    <div class="filters">
      <label>Tool <select value=${tool} onChange=${(/** @type {any} */ event) => setTool(event.target.value)}><option value="">any</option>${tools.map((one) => html`<option value=${one}>${visible(one)}</option>`)}</select></label>
      <label>Session <select value=${session} onChange=${(/** @type {any} */ event) => setSession(event.target.value)}><option value="">any</option>
        ${sessions.map((id) => html`<option value=${id}>${visible(host.sessions.value.get(id)?.name || id.slice(0, 8))}</option>`)}</select></label>
    </div>
    <h3>${preview ? `This covers ${covered.length}` : 'Looking…'}</h3>
    <ul class="covered">${covered.map((one) => html`<li key=${one.id}>
      <span class="what">${marked(one.summary || one.tool)}</span> <${RiskMark} risk=${one.risk} />
      <small class="dim">${marked(host.session(one)?.name || baseName(host.session(one)?.cwd))}</small></li>`)}</ul>
    ${come ? html`<p class="come" role="status">${come} more ${come === 1 ? 'has' : 'have'} come since. <button class="quiet" onClick=${() => setRound(round + 1)}>Look again</button></p>` : null}
    <div class="buttons">
      <button class="primary" disabled=${!covered.length} onClick=${() => decideAll('allow')}>Allow these ${covered.length} once</button>
      <button class="danger" disabled=${!covered.length} onClick=${() => decideAll('deny')}>Deny these ${covered.length}</button>
    </div>
  <//>`;
}

/**
 * What the choice covers, as of the moment it was made: what comes later must not slip under the finger.
 * @param {string} session @param {string} tool @param {number} round Another one looks again. @returns {Approval[] | null}
 */
function usePreview(session, tool, round) {
  const [found, setFound] = useState(/** @type {Approval[] | null} */ (null));
  useEffect(() => {
    let wanted = true;
    setFound(null);
    const filter = { kind: 'permission', ...(session ? { session } : {}), ...(tool ? { tool } : {}) };
    const asking = deck().call('decide_many', { filter, decision: { decision: 'allow' }, dry_run: true });
    asking.then(({ approvals }) => wanted && setFound(approvals), sayError);
    return () => {
      wanted = false;
    };
  }, [session, tool, round]);
  return found;
}

/** Of these, the ones that nobody has decided since. @param {Approval[] | null} found @returns {Approval[]} */
function useWaiting(found) {
  const known = deck().host.approvals.value;
  const seen = useRef(new Set()); // one that has not been heard of yet is not one that is gone
  for (const id of known.keys()) seen.current.add(id);
  return (found ?? []).filter(({ id }) => known.has(id) || !seen.current.has(id));
}

/** @param {unknown} error */
const wasDecided = (error) => error instanceof HostError && error.code === 'already_decided';
