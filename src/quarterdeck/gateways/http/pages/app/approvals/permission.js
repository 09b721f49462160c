/** May this tool run? Allow once, allow with a rule, edit and allow, deny with a note, deny and stop. */

import { html, useState } from '../lib.js';
import { marked, visible } from '../parts/text.js';
import { decide } from './deciding.js';
import { useCardKeys } from './keyed.js';
import { Subject, useExplained } from './looking.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/** @param {{approval: Approval, ready: boolean}} props */
export function PermissionDecision({ approval, ready }) {
  const explained = useExplained(approval);
  const [mode, setMode] = useState('');
  const reason = approval.reason || (explained.decision === 'ask' ? explained.reason : '');
  const name = visible(approval.summary || approval.tool || 'this');
  const allow = () => decide(approval, { decision: 'allow' }, `Allowed once: ${name}`);
  const stop = () => decide(approval, { decision: 'deny', interrupt: true, message: 'Stopped by the user.' }, `Denied, and stopped: ${name}`);
  /** @param {string} wanted */
  const toggle = (wanted) => setMode(mode === wanted ? '' : wanted);
  const keyed = useCardKeys('This permission', approval, ready, [
    { keys: 'a', does: 'Allow once', run: allow },
    { keys: 'r', does: 'Allow with a rule', run: () => toggle('rule') },
    { keys: 'e', does: 'Edit, then allow', run: () => toggle('edit') },
    { keys: 'd', does: 'Deny with a note', run: () => toggle('deny') },
    { keys: 'x', does: 'Deny and stop the turn', run: stop },
  ]);
  const key = (/** @type {string} */ name) => keyed && html` <kbd>${name}</kbd>`;
  return html`
    <${Subject} approval=${approval} explained=${explained} />
    ${reason ? html`<p class="reason"><span class="dim">Why it asks:</span> ${marked(reason)}</p>` : null}
    <div class="decision">
      <div class="buttons" role="group" aria-label="Decision">
        <button class="primary" onClick=${allow}>Allow once${key('a')}</button>
        <button aria-expanded=${mode === 'rule'} onClick=${() => toggle('rule')}>Allow with rule…${key('r')}</button>
        <button aria-expanded=${mode === 'edit'} onClick=${() => toggle('edit')}>Edit…${key('e')}</button>
        <span class="against"><button aria-expanded=${mode === 'deny'} onClick=${() => toggle('deny')}>Deny…${key('d')}</button>
          <button class="danger" onClick=${stop}>Deny and stop${key('x')}</button></span>
      </div>
      ${mode === 'rule' && html`<${WithRule} approval=${approval} offered=${explained.would_allow ?? []} name=${name} />`}
      ${mode === 'edit' && html`<${Edited} approval=${approval} name=${name} />`}
      ${mode === 'deny' && html`<${WithNote} approval=${approval} name=${name} />`}
    </div>`;
}

const SCOPES = { session: 'this session', project: 'this folder', user: 'everywhere' };
const LASTS = { '': 'until revoked', hour: 'for an hour', day: 'for a day' };
/** @type {Record<string, number>} */
const SECONDS = { hour: 3_600, day: 86_400 };

/** @param {{approval: Approval, offered: string[], name: string}} props */
function WithRule({ approval, offered, name }) {
  const rules = [...new Set([...offered, ...(approval.suggestions ?? []).flatMap((one) => one.rules ?? [])])];
  const [rule, setRule] = useState('');
  const [scope, setScope] = useState('session');
  const [lasts, setLasts] = useState('');
  const wanted = rule || rules[0] || '';
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const remember = { rule: wanted, scope, ...(lasts ? { lasts_s: SECONDS[lasts] } : {}) };
    void decide(approval, { decision: 'allow', remember }, `Allowed, and remembered ${visible(wanted)}: ${name}`);
  };
  return html`<form class="more" onSubmit=${submit}>
    <fieldset><legend>Rule to remember</legend>
      ${rules.map((one) => html`<label class="check"><input type="radio" name="rule" checked=${one === wanted} onChange=${() => setRule(one)} /> <code>${marked(one)}</code></label>`)}
      <label>Another rule <input value=${rules.includes(wanted) ? '' : wanted} placeholder="Bash(git status)" spellcheck="false" onInput=${(/** @type {any} */ event) => setRule(event.target.value)} /></label>
    </fieldset>
    <label>For <select value=${scope} onChange=${(/** @type {any} */ event) => setScope(event.target.value)}>${options(SCOPES)}</select></label>
    <label>Lasts <select value=${lasts} onChange=${(/** @type {any} */ event) => setLasts(event.target.value)}>${options(LASTS)}</select></label>
    <button class="primary" disabled=${!wanted}>Allow with this rule</button>
  </form>`;
}

/** @param {Record<string, string>} named */
export const options = (named) => Object.entries(named).map(([value, title]) => html`<option value=${value}>${title}</option>`);

/** @param {{approval: Approval, name: string}} props */
function Edited({ approval, name }) {
  const input = approval.input ?? {};
  const single = typeof input.command === 'string';
  const [text, setText] = useState(single ? input.command : JSON.stringify(input, null, 2));
  const [problem, setProblem] = useState('');
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    try {
      const updated = single ? { ...input, command: text } : JSON.parse(text);
      void decide(approval, { decision: 'allow', updated_input: updated }, `Allowed as edited: ${name}`);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<form class="more" onSubmit=${submit}>
    <label>${single ? 'Command to run instead' : 'Input to use instead (JSON)'}
      <textarea class="code" rows=${Math.min(16, text.split('\n').length + 1)} value=${text} spellcheck="false" onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></label>
    <p class="problem" role="alert">${marked(problem)}</p>
    <button class="primary">Allow as edited</button>
  </form>`;
}

/** @param {{approval: Approval, name: string}} props */
function WithNote({ approval, name }) {
  const [note, setNote] = useState('');
  /** @param {boolean} interrupt */
  const deny = (interrupt) => {
    const message = note.trim() ? { message: note.trim() } : {};
    void decide(approval, { decision: 'deny', interrupt, ...message }, `${interrupt ? 'Denied, and stopped' : 'Denied'}: ${name}`);
  };
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    deny(false);
  };
  return html`<form class="more" onSubmit=${submit}>
    <label>Note for the model <input value=${note} placeholder="What it should do instead (optional)" onInput=${(/** @type {any} */ event) => setNote(event.target.value)} autofocus /></label>
    <div class="buttons"><button class="danger">Deny</button><button type="button" onClick=${() => deny(true)}>Deny and stop the turn</button></div>
  </form>`;
}
