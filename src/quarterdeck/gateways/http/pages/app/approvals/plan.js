/** A plan: read it, edit it, approve it with a mode, send it back, or reject it. */

import { html, useState } from '../lib.js';
import { Markdown } from '../parts/markdown.js';
import { decide } from './deciding.js';
import { useCardKeys } from './keyed.js';
import { options } from './permission.js';

const MODES = { default: 'ask before each edit', acceptEdits: 'accept edits' };

/** @param {{approval: import('../store/types.js').Approval, ready: boolean}} props */
export function PlanDecision({ approval, ready }) {
  const plan = approval.plan ?? '';
  const [mode, setMode] = useState('default');
  const [edited, setEdited] = useState(/** @type {string | null} */ (null));
  const [note, setNote] = useState('');
  const approve = () => {
    const changed = edited !== null && edited !== plan ? { updated_input: { ...approval.input, plan: edited } } : {};
    return decide(approval, { decision: 'allow', plan: 'approve', mode, ...changed }, 'Plan approved.');
  };
  const revise = () => decide(approval, { decision: 'deny', plan: 'revise', ...(note.trim() ? { message: note.trim() } : {}) }, 'Sent back for revision.');
  const reject = () => decide(approval, { decision: 'deny', plan: 'reject', interrupt: true }, 'Plan rejected.');
  const keyed = useCardKeys('This plan', approval, ready, [
    { keys: 'a', does: 'Approve', run: approve },
    { keys: 'e', does: 'Edit the plan', run: () => setEdited(edited === null ? plan : null) },
    { keys: 'x', does: 'Reject and stop', run: reject },
  ]);
  const key = (/** @type {string} */ name) => keyed && html` <kbd>${name}</kbd>`;
  return html`<div class="plan">
      ${edited !== null
        ? html`<label>The plan<textarea class="code" rows="18" value=${edited} onInput=${(/** @type {any} */ event) => setEdited(event.target.value)} /></label>`
        : plan
          ? html`<${Markdown} text=${plan} />`
          : html`<p class="dim">Claude Code did not send the text of the plan.</p>`}
    </div>
    <div class="decision">
      <div class="buttons" role="group" aria-label="Decision">
        <button class="primary" onClick=${approve}>Approve${key('a')}</button>
        <label>then <select value=${mode} onChange=${(/** @type {any} */ event) => setMode(event.target.value)}>${options(MODES)}</select></label>
        <button aria-pressed=${edited !== null} onClick=${() => setEdited(edited === null ? plan : null)}>${edited === null ? 'Edit' : 'Undo edits'}${key('e')}</button>
        <span class="gap" />
        <button class="danger" onClick=${reject}>Reject and stop${key('x')}</button>
      </div>
      <form class="more inline" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        void revise();
      }}>
        <label>What should change <input value=${note} onInput=${(/** @type {any} */ event) => setNote(event.target.value)} /></label>
        <button>Send back</button>
      </form>
    </div>`;
}
