/** All sessions: what each is doing, since when, at what cost; and the way to start one. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Simulated, Time, money, shortModel } from '../parts/format.js';
import { useKeys } from '../parts/keys.js';
import { Menu } from '../parts/menu.js';
import { StateMark } from '../parts/state_mark.js';
import { baseName, marked, visible } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';
import { go, keepQuery, link, place } from '../router.js';
import { all } from '../store/host.js';
import { Adopt } from '../session/adopt.js';
import { Hits, linkOf, useHits } from '../session/hits.js';
import { ImportSession } from '../session/import.js';
import { NewSession } from '../session/new_session.js';

/** @typedef {import('../store/types.js').Session} Session */

const ORDER = ['waiting', 'crashed', 'running', 'compacting', 'starting', 'authenticating', 'limited', 'idle', 'parked', 'stopped'];

/** More than anybody looks through; the search finds the rest. */
const FIRST_ROWS = 200;

/** @param {{id: string}} props */
export function Sessions({ id }) {
  const { host } = deck();
  const [wanted, setWanted] = useState(place.value.query.get('q') ?? '');
  const linked = place.value.query.get('q');
  useEffect(() => {
    if (linked !== null) setWanted(linked);
  }, [linked]);
  const { found: everywhere, more } = useHits(wanted);
  // What is in the list above by its name is not listed again.
  const text = { ...everywhere, hits: everywhere.hits.filter((one) => one.kind !== 'session' || !host.sessions.value.has(one.session_id)) };
  const [archived, setArchived] = useState(/** @type {Session[] | null} */ (null));
  const found = useSearch(wanted);
  const [at, setAt] = useState(0);
  const listed = archived ?? [...host.sessions.value.values()].filter((one) => !one.archived);
  const rows = tree(listed.filter((one) => matches(one, wanted) || found.has(one.id)));
  const [whole, setWhole] = useState(false);
  const drawn = whole ? rows : rows.slice(0, FIRST_ROWS);
  const chosen = Math.min(at, drawn.length + text.hits.length - 1);
  const selected = drawn[chosen];
  const hit = text.hits[chosen - drawn.length];
  const open = () => (selected ? go('session', selected.session.id) : hit && (location.hash = linkOf(hit)));
  /** @param {any} event */
  const typed = (event) => {
    setWanted(event.target.value);
    setAt(0);
    keepQuery(event.target.value ? { q: event.target.value } : {});
  };
  const archive = async () => setArchived(archived ? null : ((await attempt(all(deck().connection, 'list_sessions', 'sessions', { archived: true }))) ?? []));
  useKeys('Sessions', [
    { keys: 'j / ArrowDown', does: 'Next', repeats: true, run: () => setAt(Math.min(drawn.length + text.hits.length - 1, chosen + 1)) },
    { keys: 'k / ArrowUp', does: 'Previous', repeats: true, run: () => setAt(Math.max(0, chosen - 1)) },
    { keys: 'Enter / o', does: 'Open', run: open },
    { keys: '/', does: 'Search', run: () => document.getElementById('search')?.focus() },
  ]);
  return html`<div class="page">
    <header class="bar"><h1>${archived ? 'Archive' : 'Sessions'}</h1>
      <input id="search" type="search" aria-label="Search sessions" placeholder="Search names, folders, all text" value=${wanted} onInput=${typed} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && open()} />
      <span class="gap" />
      <button class="quiet" aria-pressed=${archived !== null} onClick=${archive}>Archive</button>
      <${Menu}>
        <a role="menuitem" href=${link('sessions', 'adopt')}>Continue from a terminal…</a>
        <a role="menuitem" href=${link('sessions', 'import')}>Import a session…</a><//>
      <a class="button primary" href=${link('sessions', 'new')}>New session</a></header>
    <div class="scroll"><table class="sessions">
      <thead><tr><th>Session</th><th>State</th><th class="wide-only">Doing</th><th class="wide-only">Model</th><th class="number">Cost</th><th class="number">Since</th></tr></thead>
      <tbody>${drawn.map(({ session, depth }) => html`<${Row} key=${session.id} session=${session} depth=${depth} selected=${session.id === selected?.session.id} />`)}</tbody>
    </table>
    ${rows.length > drawn.length ? html`<p class="earlier"><button onClick=${() => setWhole(true)}>Show ${rows.length - drawn.length} more</button></p>` : null}
    <${Hits} found=${text} more=${more} selected=${hit} />
    ${host.loaded.value && !rows.length && !text.hits.length ? html`<p class="empty wide">${wanted ? 'Nothing found.' : archived ? 'The archive is empty.' : 'No sessions yet. Start one.'}</p>` : null}</div>
    ${id === 'new' && html`<${NewSession} onClose=${() => go('sessions')} />`}
    ${id === 'adopt' && html`<${Adopt} onClose=${() => go('sessions')} />`}
    ${id === 'import' && html`<${ImportSession} onClose=${() => go('sessions')} />`}
  </div>`;
}

/** @param {{session: Session, depth: number, selected: boolean}} props */
function Row({ session, depth, selected }) {
  const asked = session.pending_approvals ? deck().host.inbox.value.find((one) => one.session_id === session.id) : undefined;
  const doing = session.current || (asked ? `asks: ${asked.summary || asked.tool || asked.kind}` : '');
  return html`<tr aria-selected=${selected} class=${session.state} onClick=${() => go('session', session.id)}>
    <td class="who"><a href=${link('session', session.id)} style=${{ paddingLeft: `${depth * 16}px` }}>${depth ? '↳ ' : ''}<b>${marked(session.name || session.id.slice(0, 8))}</b></a>
      <span class="dim path" title=${visible(session.cwd)}>${marked(baseName(session.cwd))}${(session.tags ?? []).map((tag) => html` <span class="tag">${marked(tag)}</span>`)}</span></td>
    <td><${StateMark} session=${session} />${session.pending_approvals ? html` <b class="count">${session.pending_approvals}</b>` : null}</td>
    <td class="wide-only doing-now">${marked(doing)}</td>
    <td class="wide-only dim">${marked(shortModel(session.model))}</td>
    <td class="number">${money(session.cost_usd)}<${Simulated} session=${session} /></td>
    <td class="number dim"><${Time} at=${session.state_since} /></td>
  </tr>`;
}

/** @param {Session} session @param {string} wanted */
function matches(session, wanted) {
  const text = `${session.name ?? ''} ${session.cwd} ${session.model ?? ''} ${session.state} ${(session.tags ?? []).join(' ')}`.toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The host also looks in prompts. @param {string} wanted @returns {Set<string>} */
function useSearch(wanted) {
  const [found, setFound] = useState(/** @type {Set<string>} */ (new Set()));
  useEffect(() => {
    setFound(new Set());
    if (wanted.trim().length < 2) return undefined;
    let asked = true;
    const timer = setTimeout(() => {
      const asking = deck().call('list_sessions', { q: wanted.trim() });
      asking.then(({ sessions }) => asked && setFound(new Set(sessions.map((/** @type {Session} */ one) => one.id)))).catch(() => {});
    }, 150);
    return () => {
      asked = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  return found;
}

/** Sessions with those that came of them below; what needs somebody first. @param {Session[]} sessions */
export function tree(sessions) {
  const ids = new Set(sessions.map((one) => one.id));
  const ordered = sessions.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.last_activity_at.localeCompare(one.last_activity_at));
  /** @type {Map<string, Session[]>} */
  const below = new Map();
  for (const one of ordered) {
    const parent = one.parent_id && ids.has(one.parent_id) ? one.parent_id : '';
    below.set(parent, [...(below.get(parent) ?? []), one]);
  }
  /** @type {{session: Session, depth: number}[]} */
  const rows = [];
  const walk = (/** @type {string} */ parent, /** @type {number} */ depth) => {
    for (const session of below.get(parent) ?? []) {
      rows.push({ session, depth });
      walk(session.id, depth + 1);
    }
  };
  walk('', 0);
  return rows;
}
