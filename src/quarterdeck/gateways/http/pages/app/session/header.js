/** What the session is and does, and what can be done with all of it. */

import { deck } from '../deck.js';
import { html, useState } from '../lib.js';
import { Simulated, Time, count, money } from '../parts/format.js';
import { Menu } from '../parts/menu.js';
import { StateMark } from '../parts/state_mark.js';
import { baseName, marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { go } from '../router.js';
import { FORMATS, exportAs } from './saving.js';

/**
 * @typedef {import('../store/types.js').Session} Session
 * @typedef {import('../store/timeline.js').Timeline} Timeline
 */

const PANELS = ['turns', 'plan', 'changes', 'about'];
const ALIVE = new Set(['starting', 'authenticating', 'limited', 'waiting', 'compacting', 'running', 'idle']);

/** @param {{session: Session, timeline: Timeline, panel: string, setPanel: (name: string) => void}} props */
export function SessionHeader({ session, timeline, panel, setPanel }) {
  /** @param {Record<string, any>} changes */
  const update = (changes) => attempt(deck().call('update_session', { session_id: session.id, ...changes }));
  return html`<header class="session-head bar">
    <a class="back" href="#/sessions" aria-label="All sessions">←</a>
    <${Name} session=${session} rename=${(/** @type {string} */ name) => update({ name })} />
    <span class="dim path" title=${visible(session.cwd)}>${marked(session.worktree ? `${baseName(session.cwd)} (worktree)` : baseName(session.cwd))}</span>
    <${StateMark} session=${session} />
    <span class="dim since"><${Time} at=${session.state_since} /></span>
    <span class="gap" />
    <${Context} timeline=${timeline} />
    <button class="quiet cost" title="Cost of this session. Opens its details, with its budget." onClick=${() => setPanel('about')}>${money(session.cost_usd)}<${Simulated} session=${session} />${session.budget_usd ? html`<span class="dim"> of ${money(session.budget_usd)}</span>` : null}</button>
    <span class="tools">
      ${PANELS.map((name) => html`<button class="quiet" aria-pressed=${panel === name} onClick=${() => setPanel(panel === name ? '' : name)}>${name[0].toUpperCase() + name.slice(1)}</button>`)}
      <${Actions} session=${session} update=${update} />
    </span>
  </header>`;
}

/** @param {{session: Session, rename: (name: string) => void}} props */
function Name({ session, rename }) {
  const [editing, setEditing] = useState(false);
  if (!editing) {
    return html`<h1 class="name"><button class="quiet" title="Rename" onClick=${() => setEditing(true)}>${marked(session.name || session.id.slice(0, 8))}</button></h1>`;
  }
  /** @param {any} event */
  const done = (event) => {
    event.preventDefault();
    setEditing(false);
    const name = new FormData(event.target).get('name');
    if (typeof name === 'string' && name.trim() !== session.name) rename(name.trim());
  };
  return html`<form class="name" onSubmit=${done}><input name="name" aria-label="Name of the session" value=${session.name} autofocus onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && setEditing(false)} /></form>`;
}

/** How full the context is. @param {{timeline: Timeline}} props */
function Context({ timeline }) {
  const { tokens = 0, window = 0 } = timeline.context;
  if (!tokens) return null;
  const share = window ? Math.min(1, tokens / window) : 0;
  const told = window ? `${Math.round(100 * share)} % of ${count(window)} tokens of context` : `${count(tokens)} tokens of context`;
  return html`<span class="context" title=${told}>
    ${window ? html`<meter min="0" max="1" low="0.6" high="0.85" optimum="0" value=${share} aria-label=${told} />` : null}<span>${window ? `${Math.round(100 * share)} %` : `${count(tokens)} tokens`}</span>
  </span>`;
}

/** @param {{session: Session, update: (changes: Record<string, any>) => Promise<any>}} props */
function Actions({ session, update }) {
  const of = { session_id: session.id };
  /** @param {string} op @param {string} told @param {Record<string, any>} [more] */
  const run = async (op, told, more = {}) => {
    const done = await attempt(deck().call(op, { ...of, ...more }));
    if (done !== undefined) say(told);
    return done;
  };
  const alive = ALIVE.has(session.state);
  const fork = async () => {
    const made = await run('fork', 'Forked.');
    if (made) go('session', made.id);
  };
  const remove = async () => {
    if (confirm(`Delete ${visible(session.name || 'this session')} and its log? This cannot be undone.`) && (await run('delete_session', 'Deleted.'))) go('sessions');
  };
  return html`<${Menu}>
    ${alive ? html`<button role="menuitem" onClick=${() => run('stop', 'Stopped.')}>Stop the process</button>` : html`<button role="menuitem" onClick=${() => run('resume', 'Resumed.')}>Resume</button>`}
    <button role="menuitem" onClick=${fork}>Fork</button>
    <button role="menuitem" onClick=${() => run('compact', 'Compacting.')}>Compact the context</button>
    ${Object.entries(FORMATS).map(([format, title]) => html`<button role="menuitem" onClick=${() => attempt(exportAs(session, format))}>Export as ${title}</button>`)}
    <button role="menuitem" disabled=${alive} title=${alive ? 'Stop it first' : ''} onClick=${() => update({ archived: !session.archived })}>${session.archived ? 'Unarchive' : 'Archive'}</button>
    <button role="menuitem" class="danger" onClick=${remove}>Delete…</button>
  <//>`;
}
