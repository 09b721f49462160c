/** Which rules hold where, what was granted, and what would be said about a call. */

import { options } from '../approvals/permission.js';
import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Command } from '../parts/command.js';
import { Time } from '../parts/format.js';
import { baseName, marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { link } from '../router.js';

export function Policy() {
  const { host, connection } = deck();
  const folders = [...new Set([...host.sessions.value.values()].map((one) => one.cwd))];
  const [cwd, setCwd] = useState('');
  const folder = cwd || folders[0] || '';
  return html`<div class="page">
    <header class="bar"><h1>Policy</h1><label class="bare grow">Folder <input class="grow" list="policy-folders" value=${folder} spellcheck="false" onChange=${(/** @type {any} */ event) => setCwd(event.target.value)} /></label>
      <datalist id="policy-folders">${folders.map((one) => html`<option value=${visible(one)} />`)}</datalist></header>
    <div class="scroll padded policy">
      <${Explain} cwd=${folder} />
      <${TryRule} />
      <${Grants} version=${connection.reconnects.value} />
      <${Rules} cwd=${folder} />
    </div>
  </div>`;
}

/** @type {Record<string, string>} */
const TITLES = { command: 'Command', file_path: 'File', url: 'Address' };

/** What the policy would say. @param {{cwd: string}} props */
function Explain({ cwd }) {
  const [tool, setTool] = useState('Bash');
  const [input, setInput] = useState('');
  const [told, setTold] = useState(/** @type {any} */ (null));
  const plain = tool === 'Bash' || tool === 'Read' || tool === 'Edit' || tool === 'Write' || tool === 'WebFetch';
  const field = { Bash: 'command', Read: 'file_path', Edit: 'file_path', Write: 'file_path', WebFetch: 'url' }[tool] ?? '';
  /** @param {Event} event */
  const ask = async (event) => {
    event.preventDefault();
    const given = plain ? { [field]: input } : await attempt((async () => JSON.parse(input || '{}'))());
    if (given) setTold((await attempt(deck().call('explain_policy', { tool, input: given, cwd }))) ?? null);
  };
  return html`<section class="explain"><h2>What would happen</h2>
    <form class="inline" onSubmit=${ask}>
      <label>Tool <input value=${tool} list="tools" spellcheck="false" onInput=${(/** @type {any} */ event) => setTool(event.target.value)} /></label>
      <datalist id="tools">${['Bash', 'Read', 'Edit', 'Write', 'WebFetch'].map((one) => html`<option value=${one} />`)}</datalist>
      <label class="grow">${TITLES[field] ?? 'Input (JSON)'} <input class="code" value=${input} spellcheck="false" placeholder=${tool === 'Bash' ? 'git push --force origin main' : ''} onInput=${(/** @type {any} */ event) => setInput(event.target.value)} /></label>
      <button class="primary" disabled=${!cwd || !input}>Explain</button>
    </form>
    ${told && html`<div class="verdict" role="status">
      <p><span class=${`decision-word ${told.decision}`}>${told.decision}</span> ${marked(told.reason)} ${told.rule ? html`<code>${marked(told.rule)}</code>` : null}</p>
      ${tool === 'Bash' ? html`<${Command} command=${input} risky=${told.risky_parts} />` : null}
      ${told.risk ? html`<p class="dim">Risk: ${marked(told.risk)}</p>` : null}
      ${told.parts?.length > 1 ? html`<ul>${told.parts.map((/** @type {any} */ part) => html`<li><span class=${`decision-word ${part.decision}`}>${part.decision}</span> <code>${marked(part.text)}</code> <span class="dim">${marked(part.reason)}</span></li>`)}</ul>` : null}
      ${told.would_allow?.length ? html`<p class="dim">Would allow exactly this: ${told.would_allow.map((/** @type {string} */ rule) => html`<code>${marked(rule)}</code> `)}</p>` : null}
      ${told.near?.length ? html`<ul class="dim">${told.near.map((/** @type {any} */ near) => html`<li><code>${marked(near.rule)}</code> does not: ${marked(near.why_not)}</li>`)}</ul>` : null}
    </div>`}
  </section>`;
}

const BEHAVIOURS = { allow: 'allow', ask: 'ask about', deny: 'deny' };

/** What a new rule would have decided on past requests. Changes nothing. */
function TryRule() {
  const { host } = deck();
  const [tried, setTried] = useState(/** @type {any} */ (null));
  /** @param {any} event */
  const ask = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    setTried((await attempt(deck().call('try_rule', { rule: String(form.get('rule')).trim(), behavior: form.get('behavior') }))) ?? null);
  };
  const changed = (tried?.requests ?? []).filter((/** @type {any} */ one) => one.today !== one.with_rule);
  return html`<section class="try"><h2>Try a new rule on past requests</h2>
    <form class="inline" onSubmit=${ask}>
      <label>Decision <select name="behavior">${options(BEHAVIOURS)}</select></label>
      <label class="grow">Rule <input name="rule" class="code" required spellcheck="false" autocomplete="off" placeholder="Bash(npm test:*)" /></label>
      <button>Try</button>
    </form>
    ${tried && html`<div class="verdict" role="status">
      <p>${tried.looked_at ? html`It would have changed <b>${tried.changed}</b> of the last ${tried.looked_at} requests${changed.length ? ':' : '.'}` : 'There are no past requests yet.'}</p>
      ${changed.length ? html`<div class="scroll-x"><table><thead><tr><th>Request</th><th>Policy</th><th>With the rule</th><th>Decided</th><th>Session</th><th class="number">Asked</th></tr></thead>
        <tbody>${changed.map((/** @type {any} */ one) => html`<tr key=${one.approval_id}>
          <td class="code">${marked(one.summary || one.tool)}</td>
          <td data-label="Policy"><span class=${`decision-word ${one.today}`}>${one.today}</span></td>
          <td data-label="With the rule" title=${visible(one.reason)}><span class=${`decision-word ${one.with_rule}`}>${one.with_rule}</span></td>
          <td data-label="Decided">${one.decided ? html`<span class=${`decision-word ${one.decided}`}>${visible(one.decided)}</span>` : html`<span class="dim">${visible(one.state)}</span>`}${one.decided && one.with_rule !== 'ask' && one.decided !== one.with_rule ? html` <span class="tag against">against it</span>` : null}</td>
          <td><a href=${link('session', one.session_id)}>${marked(host.sessions.value.get(one.session_id)?.name || one.session_id.slice(0, 8))}</a></td>
          <td data-label="Asked" class="number dim"><${Time} at=${one.asked_at} /></td></tr>`)}</tbody></table></div>` : null}
    </div>`}
  </section>`;
}

const SCOPES = { session: 'one session', project: 'one folder', user: 'everywhere' };

/** @param {{version: number}} props */
function Grants({ version }) {
  const { host } = deck();
  const [grants, setGrants] = useState(/** @type {any[]} */ ([]));
  const fetch = async () => setGrants((await attempt(deck().call('list_grants')))?.grants ?? []);
  useEffect(() => void fetch(), [version]);
  /** @param {any} grant */
  const revoke = async (grant) => {
    if (await attempt(deck().call('revoke_grant', { grant_id: grant.id }))) say(`Revoked ${visible(grant.rule)}. You will be asked again.`);
    await fetch();
  };
  const now = Date.now();
  const holds = (/** @type {any} */ one) => !one.revoked_at && !(one.expires_at && Date.parse(one.expires_at) < now);
  return html`<section><h2>Grants</h2>
    ${grants.length ? html`<div class="scroll-x"><table><thead><tr><th>Rule</th><th>For</th><th>By</th><th class="number">Made</th><th>Until</th><th></th></tr></thead>
      <tbody>${grants.toSorted((one, other) => Number(holds(other)) - Number(holds(one)) || other.created_at.localeCompare(one.created_at)).map((one) => html`<tr key=${one.id} class=${holds(one) ? '' : 'over'}>
        <td><code>${marked(one.rule)}</code></td>
        <td data-label="For">${one.session_id ? html`<a href=${link('session', one.session_id)}>${marked(host.sessions.value.get(one.session_id)?.name || 'one session')}</a>` : one.cwd ? html`<span title=${visible(one.cwd)}>${marked(baseName(one.cwd))}</span>` : SCOPES[/** @type {keyof SCOPES} */ (one.scope)]}</td>
        <td data-label="By">${marked(one.by)}</td><td data-label="Made" class="number"><${Time} at=${one.created_at} /></td>
        <td data-label="Until">${one.revoked_at ? 'revoked' : one.expires_at ? html`<${Time} at=${one.expires_at} exact=${true} />` : 'no end'}</td>
        <td>${holds(one) && html`<button class="quiet danger" onClick=${() => revoke(one)}>Revoke</button>`}</td></tr>`)}</tbody></table></div>` : html`<p class="dim">No remembered rules. Rules that you allow appear here.</p>`}
  </section>`;
}

/** @param {{cwd: string}} props */
function Rules({ cwd }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let wanted = true;
    setFound(null);
    deck().call('list_rules', cwd ? { cwd } : {}).then((told) => wanted && setFound(told), (error) => wanted && setFound({ rules: [], notes: [error.message] }));
    return () => {
      wanted = false;
    };
  }, [cwd]);
  if (!found) return null;
  /** @type {any[]} */
  const all = found.rules;
  const builtIn = all.filter((rule) => rule.layer === 'built-in');
  const others = all.filter((rule) => rule.layer !== 'built-in');
  return html`<section><h2>Rules in force</h2>
    ${found.notes?.map((/** @type {string} */ note) => html`<p class="problem">${marked(note)}</p>`)}
    ${others.length ? html`<${RuleTable} rules=${others} />` : html`<p class="dim">Only the built-in rules. Calls that no rule covers are asked about.</p>`}
    ${builtIn.length ? html`<details><summary class="dim">${builtIn.length} built in: no session can read the host's own folder or decide its own requests</summary><${RuleTable} rules=${builtIn} /></details>` : null}
  </section>`;
}

/** @param {{rules: any[]}} props */
function RuleTable({ rules }) {
  return html`<div class="scroll-x"><table><thead><tr><th>Decision</th><th>Rule</th><th>Layer</th><th>From</th></tr></thead>
    <tbody>${rules.map((rule) => html`<tr><td><span class=${`decision-word ${rule.behavior}`}>${rule.behavior}</span></td><td><code>${marked(rule.rule)}</code></td><td>${marked(rule.layer)}</td><td class="dim">${marked(rule.layer === 'built-in' || rule.layer === 'grant' ? '' : rule.place)}</td></tr>`)}</tbody></table></div>`;
}
