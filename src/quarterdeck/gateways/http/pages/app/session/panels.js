/** Beside the conversation: its turns, plan and tasks, what it changed in its folder, what it is. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { FileChange, parsePatch } from '../parts/diff.js';
import { Simulated, Time, count, duration, money } from '../parts/format.js';
import { diffStyle } from '../parts/preferences.js';
import { marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { textOf } from '../store/timeline.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../store/types.js').Session} Session
 * @typedef {import('../store/timeline.js').Timeline} Timeline
 */

/** Jump to a prompt. @param {{items: Item[], store: import('../store/session.js').SessionStore, jump: import('./find.js').Jump}} props */
export function Turns({ items, store, jump }) {
  const prompts = items.map((item, index) => ({ item, index })).filter(({ item }) => item.type === 'prompt');
  const { hasEarlier, loadingEarlier } = store;
  return html`${hasEarlier.value && html`<p><button class="quiet" disabled=${loadingEarlier.value > 0} onClick=${() => attempt(store.loadEarlier())}>${loadingEarlier.value > 0 ? 'Loading…' : 'Show earlier turns'}</button></p>`}
  <ol class="turns">${prompts.map(
    ({ item, index }) => html`<li key=${item.id}><button class="quiet" onClick=${() => jump(index)}><span class="what">${marked(textOf(item.text).slice(0, 200))}</span> <${Time} at=${item.at} exact=${true} /></button></li>`,
  )}</ol>`;
}

/** @type {Record<string, string>} */
const SIGNS = { pending: '○', in_progress: '◐', completed: '●' };

/** The list of what to do, and what runs beside the conversation. @param {{session: Session, timeline: Timeline}} props */
export function PlanAndTasks({ session, timeline }) {
  const plans = [...timeline.plans].filter(([, { entries }]) => entries.length).sort(([one], [other]) => Number(one !== '') - Number(other !== ''));
  const tasks = [...timeline.tasks.values()].toReversed();
  return html`<section><h3>To do</h3>
      ${plans.map(([parent, { entries }]) => html`<div key=${parent}>
        ${parent && html`<h4>${marked(agentOf(timeline, parent))}</h4>`}
        <ul class="todo">${entries.map((one) => html`<li class=${one.status ?? 'pending'}><i aria-label=${visible(one.status ?? 'pending')}>${Object.hasOwn(SIGNS, one.status ?? 'pending') ? SIGNS[one.status ?? 'pending'] : '·'}</i> ${marked(one.status === 'in_progress' ? one.doing || one.text : one.text)}</li>`)}</ul></div>`)}
      ${plans.length ? null : html`<p class="dim">No to-do list.</p>`}
    </section>
    <section><h3>Tasks</h3>
      ${tasks.length ? html`<ul class="tasks">${tasks.map((task) => html`<${Task} key=${task.id} session=${session} task=${task} />`)}</ul>` : html`<p class="dim">None.</p>`}
    </section>`;
}

/** What a sub-agent is called: as in its call. @param {Timeline} timeline @param {string} id */
function agentOf(timeline, id) {
  const call = timeline.items.get(id);
  return call?.about || call?.agent_type || 'Sub-agent';
}

/** @param {{session: Session, task: import('../store/types.js').Task}} props */
function Task({ session, task }) {
  const stop = () => attempt(deck().call('stop_task', { session_id: session.id, task_id: task.id }));
  const used = [task.tool_uses ? `${task.tool_uses} tools` : '', task.tokens ? `${count(task.tokens)} tokens` : '', task.duration_s ? duration(task.duration_s) : ''].filter(Boolean).join(' · ');
  return html`<li class=${task.status}><p><b>${marked(task.description || task.kind || task.id)}</b> <span class="tag">${task.status}${task.background ? ', background' : ''}</span></p>
    <p class="dim">${marked(task.doing || task.summary || task.error || '')}</p><p class="dim">${used}</p>
    ${task.status === 'running' && html`<button class="quiet" onClick=${stop}>Stop</button>`}</li>`;
}

/** All of it as one diff. @param {{session: Session}} props */
export function Changes({ session }) {
  const [found, setFound] = useState(/** @type {{files: import('../store/types.js').FileDiff[], [more: string]: any} | null} */ (null));
  const [problem, setProblem] = useState('');
  const fetch = async () => {
    try {
      const told = await deck().call('get_diff', { session_id: session.id });
      setFound({ ...told, files: await parsePatch(told.diff ?? '') });
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  useEffect(() => void fetch(), [session.id, session.state]);
  if (problem) return html`<p class="dim">${marked(problem)}</p>`;
  if (!found) return html`<p class="dim">Looking…</p>`;
  const { files } = found;
  const added = files.reduce((sum, one) => sum + (one.added ?? 0), 0);
  const removed = files.reduce((sum, one) => sum + (one.removed ?? 0), 0);
  return html`<div class="changes">
    <p class="bar"><span>${files.length} ${files.length === 1 ? 'file' : 'files'} <span class="added">+${added}</span> <span class="removed">−${removed}</span></span><span class="gap" />
      <button class="quiet" aria-pressed=${diffStyle.value === 'split'} onClick=${() => (diffStyle.value = diffStyle.value === 'split' ? 'unified' : 'split')}>Side by side</button>
      <button class="quiet" onClick=${fetch}>Refresh</button></p>
    ${files.map((file) => html`<${FileChange} key=${file.path} diff=${file} open=${files.length < 12} />`)}
    ${found.left_out?.length ? html`<section><h3>New, not shown</h3><p class="dim">Larger than 1 MB, links, or not readable.</p><ul>${found.left_out.map((/** @type {string} */ path) => html`<li><code>${marked(path)}</code></li>`)}</ul></section>` : null}
    ${!files.length && !found.left_out?.length ? html`<p class="dim">No changes yet.</p>` : null}
    ${found.truncated ? html`<p class="note">There is more than can be shown.</p>` : null}
  </div>`;
}

/** How often a tool server is looked at that connects; Claude Code does not tell when it has. */
const CONNECTING_MS = 1_000;

/** @param {{session: Session, timeline: Timeline, info: Record<string, any> | null}} props */
export function About({ session, timeline, info }) {
  /** @type {any[]} */
  const servers = Object.values(timeline.session.mcp_servers ?? {});
  const look = () => deck().call('list_mcp_servers', { session_id: session.id }); // the log has what it finds
  const connecting = servers.some((one) => one.status === 'pending');
  useEffect(() => {
    const timer = connecting ? setInterval(() => look().catch(() => {}), CONNECTING_MS) : undefined;
    return () => clearInterval(timer);
  }, [session.id, connecting]);
  /** @param {string} op @param {string} server */
  const act = async (op, server) => {
    if ((await attempt(deck().call(op, { session_id: session.id, server }))) !== undefined) await attempt(look());
  };
  const facts = [
    ['Folder', session.cwd],
    ['Session', session.id],
    ['Started', new Date(session.created_at).toLocaleString()],
    ['Claude Code', session.cli_version],
    ['Tokens', session.tokens ? `${count(session.tokens.input)} in, ${count(session.tokens.output)} out, ${count(session.tokens.cache_read)} cached` : ''],
    ['Cost', html`${money(session.cost_usd)}<${Simulated} session=${session} />`],
    ['Tools', info?.tools?.join(', ')],
    ['Agents', info?.agents?.join(', ')],
    ['Skills', info?.skills?.join(', ')],
    ['Account', info?.account?.email ?? info?.account?.organization],
    ['State', session.state_reason],
  ];
  return html`<dl class="fields">${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${marked(value)}</dd></div>`)}</dl>
    <${Budget} key=${session.id} session=${session} />
    ${servers.length ? html`<h3>MCP servers</h3><ul class="tasks">${servers.map(
      (one) => html`<li><p><b>${marked(one.name)}</b> <span class="tag">${visible(one.status)}</span></p>${one.error ? html`<p class="problem">${marked(one.error)}</p>` : null}
        <div class="buttons"><button class="quiet" onClick=${() => act('reconnect_mcp_server', one.name)}>Reconnect</button>
        <button class="quiet" onClick=${() => act(one.status === 'disabled' ? 'enable_mcp_server' : 'disable_mcp_server', one.name)}>${one.status === 'disabled' ? 'Enable' : 'Disable'}</button></div></li>`,
    )}</ul>` : null}`;
}

/** What it may spend in all. Raising it lets a session go on that has used it up. @param {{session: Session}} props */
function Budget({ session }) {
  /** @param {any} event */
  const submit = async (event) => {
    event.preventDefault();
    const budget = String(new FormData(event.target).get('budget') ?? '').trim() || null;
    const changed = await attempt(deck().call('update_session', { session_id: session.id, budget_usd: budget }));
    if (changed) say(budget ? `It may spend ${money(budget)} in all.` : 'It has no budget of its own any more.');
  };
  return html`<form class="inline" onSubmit=${submit}>
    <label>Budget, USD <input name="budget" inputmode="decimal" defaultValue=${session.budget_usd ?? ''} placeholder="none" /></label>
    <button>Save</button></form>`;
}
