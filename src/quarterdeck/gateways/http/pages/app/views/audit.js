/** Who decided or changed what, through which face; the newest first. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Time } from '../parts/format.js';
import { marked, visible } from '../parts/text.js';
import { sayError } from '../parts/toasts.js';
import { link } from '../router.js';

const PAGE = 100;
const SHOWN_APART = new Set(['decision', 'tool', 'summary', 'approval_id']);

/** What was decided about: the command or file, the tool in older entries. @param {any} entry @returns {string} */
const subject = (entry) => entry.details?.summary || entry.details?.tool || '';

/** @param {any} entry */
const rest = (entry) =>
  Object.entries(entry.details ?? {})
    .filter(([name]) => !SHOWN_APART.has(name))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

export function Audit() {
  const { host, connection } = deck();
  const [who, setWho] = useState('');
  const [session, setSession] = useState('');
  const [from, setFrom] = useState('');
  const [entries, setEntries] = useState(/** @type {any[]} */ ([]));
  const [cursor, setCursor] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState('');
  const [tries, setTries] = useState(0);
  /** @param {string | null} after @param {() => boolean} wanted */
  const fetch = async (after, wanted = () => true) => {
    const filter = { ...(who ? { who } : {}), ...(session ? { session } : {}), ...(from ? { from: new Date(from).toISOString() } : {}) };
    const page = await deck().call('list_audit', { ...filter, limit: PAGE, cursor: after });
    if (!wanted()) return;
    setEntries((known) => (after === null ? page.audit : [...known, ...page.audit]));
    setCursor(page.next_cursor ?? null);
  };
  useEffect(() => {
    let wanted = true;
    setProblem('');
    // What another filter found is not what this one asks for.
    fetch(null, () => wanted).catch((error) => {
      if (!wanted) return;
      setEntries([]);
      setCursor(null);
      setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      wanted = false;
    };
  }, [who, session, from, tries, connection.reconnects.value]);
  const people = [...new Set(entries.map((one) => one.who))].sort();
  return html`<div class="page">
    <header class="bar filter"><h1>Audit</h1><span class="gap" />
      <label class="bare">Who <input list="people" value=${who} onChange=${(/** @type {any} */ event) => setWho(event.target.value)} /></label>
      <datalist id="people">${people.map((one) => html`<option value=${visible(one)} />`)}</datalist>
      <label class="bare">Session <select value=${session} onChange=${(/** @type {any} */ event) => setSession(event.target.value)}><option value="">all</option>
        ${[...host.sessions.value.values()].map((one) => html`<option value=${one.id}>${visible(one.name || one.id.slice(0, 8))}</option>`)}</select></label>
      <label class="bare">From <input type="date" value=${from} onChange=${(/** @type {any} */ event) => setFrom(event.target.value)} /></label>
    </header>
    <div class="scroll"><table class="audit"><thead><tr><th>When</th><th>Who</th><th>What</th><th>Session</th><th class="wide-only">Details</th></tr></thead>
      <tbody>${entries.map((one) => html`<tr key=${one.id}>
        <td class="dim"><${Time} at=${one.at} exact=${true} /></td>
        <td>${marked(one.who)} <span class="dim">${visible(one.via)}</span></td>
        <td>${marked(one.operation.replaceAll('_', ' '))}${one.details?.decision ? html` <span class=${`decision-word ${one.details.decision}`}>${visible(one.details.decision)}</span>` : null}${subject(one) ? html` <span class="dim subject">${marked(subject(one))}</span>` : null}</td>
        <td class="session">${one.session_id ? html`<a href=${link('session', one.session_id)}>${marked(host.sessions.value.get(one.session_id)?.name || one.session_id.slice(0, 8))}</a>` : null}</td>
        <td class="wide-only dim details">${marked(rest(one))}</td>
      </tr>`)}</tbody></table>
      ${problem ? html`<p class="empty wide" role="alert">${marked(problem)} <button onClick=${() => setTries(tries + 1)}>Try again</button></p>` : !entries.length ? html`<p class="empty wide">Nothing found.</p>` : null}
      ${cursor ? html`<p class="earlier"><button onClick=${() => fetch(cursor).catch(sayError)}>Older</button></p>` : null}
    </div>
  </div>`;
}
