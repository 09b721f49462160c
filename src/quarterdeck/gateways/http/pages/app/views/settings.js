/** How the page looks, who may use the host, what may be spent, and who is told about what. */

import { options } from '../approvals/permission.js';
import { current, deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { forget } from '../net/login.js';
import { Time, duration } from '../parts/format.js';
import { tryNotification } from '../parts/notifications.js';
import { diffStyle, notify, showThinking, theme } from '../parts/preferences.js';
import { marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { PresetList } from '../session/presets.js';

export function Settings() {
  const [host, setHost] = useState(/** @type {any} */ (null));
  useEffect(() => {
    deck().call('get_host').then(setHost, () => {});
  }, []);
  return html`<div class="page"><header class="bar"><h1>Settings</h1></header>
    <div class="scroll padded settings">
      <${Appearance} /><${Budgets} /><${PresetList} /><${Tokens} /><${Alerts} />
      <section><h2>This host</h2>
        ${host && html`<dl class="fields"><div><dt>Quarterdeck</dt><dd>${marked(host.version)}</dd></div>${host.cli_versions?.length ? html`<div><dt>Claude Code</dt><dd>${marked(host.cli_versions.join(', '))}</dd></div>` : null}<div><dt>Signed in as</dt><dd>${marked(deck().connection.name)}</dd></div></dl>`}
        <button onClick=${signOut}>Sign out</button></section>
    </div></div>`;
}

function signOut() {
  forget();
  current.value?.close();
  current.value = null;
}

function Appearance() {
  /** @param {any} event */
  const ask = async (event) => {
    const problem = notify.value ? '' : await tryNotification();
    if (!problem) notify.value = !notify.value;
    else {
      event.target.checked = false;
      say(problem, 'error');
    }
  };
  return html`<section><h2>This browser</h2>
    <div class="columns narrow"><label>Colours <select value=${theme.value} onChange=${(/** @type {any} */ event) => (theme.value = event.target.value)}>${options({ system: 'system', light: 'light', dark: 'dark' })}</select></label>
    <label>Diffs <select value=${diffStyle.value} onChange=${(/** @type {any} */ event) => (diffStyle.value = event.target.value)}>${options({ unified: 'unified', split: 'side by side' })}</select></label></div>
    <label class="check"><input type="checkbox" checked=${showThinking.value} onChange=${() => (showThinking.value = !showThinking.value)} /> Show thinking unfolded</label>
    <label class="check"><input type="checkbox" checked=${notify.value} onChange=${ask} /> Notify me about new requests while this page is in the background</label>
  </section>`;
}

function Budgets() {
  const [budgets, setBudgets] = useState(/** @type {any} */ (null));
  useEffect(() => {
    deck().call('get_budgets').then(setBudgets, () => {});
  }, []);
  if (!budgets) return null;
  /** @param {any} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const amount = (/** @type {string} */ name) => String(form.get(name) ?? '').trim() || null;
    const saved = await attempt(deck().call('set_budgets', { settings: { day_usd: amount('day_usd'), month_usd: amount('month_usd') } }));
    if (saved) {
      setBudgets(saved);
      say('Budgets saved.');
    }
  };
  return html`<section><h2>Budgets</h2><form class="inline" onSubmit=${submit}>
    <label>Per day, USD <input name="day_usd" inputmode="decimal" value=${budgets.day_usd ?? ''} placeholder="none" /></label>
    <label>Per month, USD <input name="month_usd" inputmode="decimal" value=${budgets.month_usd ?? ''} placeholder="none" /></label>
    <button>Save</button></form></section>`;
}

/** As a shell takes a line apart: what is quoted stays together. Null: a quote has no end. @param {string} line @returns {string[] | null} */
function words(line) {
  const quotes = /"((?:\\.|[^"\\])*)"|'([^']*)'/g;
  if (/["']/.test(line.replace(quotes, ''))) return null;
  const found = line.match(/(?:[^\s"']|"(?:\\.|[^"\\])*"|'[^']*')+/g) ?? [];
  return found.map((word) => word.replace(quotes, (_, double, single) => single ?? double.replace(/\\(.)/g, '$1')));
}

/** @param {string} word */
const quoted = (word) => (word && !/[\s"']/.test(word) ? word : JSON.stringify(word));

const SCOPES = { read: 'read', approve: 'approve', operate: 'operate', admin: 'admin' };

function Tokens() {
  const [tokens, setTokens] = useState(/** @type {any[] | null} */ (null));
  const [made, setMade] = useState(/** @type {any} */ (null));
  const fetch = () => deck().call('list_tokens').then((found) => setTokens(found.tokens), () => setTokens(null));
  useEffect(() => void fetch(), []);
  if (tokens === null) return html`<section><h2>Tokens</h2><p class="dim">Only an admin sees the tokens.</p></section>`;
  /** @param {any} event */
  const create = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const days = Number(form.get('days'));
    const token = await attempt(deck().call('create_token', { name: form.get('name'), scope: form.get('scope'), ...(days ? { expires_s: days * 86_400 } : {}) }));
    if (token) {
      setMade(token);
      event.target.reset();
      await fetch();
    }
  };
  /** @param {any} token */
  const revoke = async (token) => {
    if (confirm(`Revoke ${visible(token.name)}? Anyone using it is disconnected at once.`) && (await attempt(deck().call('revoke_token', { token_id: token.id })))) say(`Revoked ${visible(token.name)}.`);
    await fetch();
  };
  const live = tokens.filter((one) => !one.revoked_at && !(one.expires_at && Date.parse(one.expires_at) < Date.now()));
  return html`<section><h2>Tokens</h2>
    <div class="scroll-x"><table><thead><tr><th>Name</th><th>Scope</th><th>Folders</th><th class="number">Last used</th><th>Expires</th><th></th></tr></thead>
      <tbody>${live.map((one) => html`<tr key=${one.id}><td>${marked(one.name)}</td><td data-label="Scope">${one.scope}</td><td data-label="Folders" class="dim">${marked((one.folders ?? []).join(', ') || 'all')}</td><td data-label="Last used" class="number dim">${one.last_used_at ? html`<${Time} at=${one.last_used_at} />` : 'never'}</td><td data-label="Expires" class="dim">${one.expires_at ? html`<${Time} at=${one.expires_at} exact=${true} />` : 'never'}</td><td><button class="quiet danger" onClick=${() => revoke(one)}>Revoke</button></td></tr>`)}</tbody></table></div>
    ${made && html`<p class="made" role="status">The secret of ${marked(made.name)}, shown only now: <code>${made.secret}</code></p>`}
    <form class="inline" onSubmit=${create}><label>Name <input name="name" required /></label><label>Scope <select name="scope">${options(SCOPES)}</select></label><label>Days <input name="days" type="number" min="1" placeholder="no expiry" /></label><button>Make a token</button></form>
  </section>`;
}

const EVENTS = { approval: 'something waits', crashed: 'a crash', finished: 'a turn is done', budget: 'budgets', limited: 'rate limits' };

/** @typedef {{on: string[], url?: string, command?: string[], after_s?: number, session?: string, cwd?: string}} Alert */

/** Webhooks and commands that are called when something happens. */
function Alerts() {
  const [kept, setKept] = useState(/** @type {{alerts: Alert[], private_hosts?: string[]} | null} */ (null));
  useEffect(() => {
    deck().call('get_alerts').then(setKept, () => setKept(null));
  }, []);
  if (kept === null) return null;
  /** @param {Alert[]} alerts */
  const save = async (alerts) => {
    const saved = await attempt(deck().call('set_alerts', { settings: { ...kept, alerts } }));
    if (saved) {
      setKept(saved);
      say('Alerts saved.');
    }
    return saved;
  };
  /** @param {any} event */
  const add = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const text = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
    const target = text('target');
    const command = words(target);
    const isAddress = /^https?:/i.test(target);
    if (!isAddress && !command) {
      say('A quotation mark is not closed.', 'error');
      return;
    }
    const to = isAddress ? { url: target } : { command: command ?? [] };
    const about = { ...(text('cwd') ? { cwd: text('cwd') } : {}), ...(Number(text('minutes')) ? { after_s: 60 * Number(text('minutes')) } : {}) };
    if (await save([...(kept.alerts ?? []), { on: form.getAll('on').map(String), ...to, ...about }])) event.target.reset();
  };
  const alerts = kept.alerts ?? [];
  return html`<section><h2>Alerts</h2>
    ${alerts.length ? html`<div class="scroll-x"><table><thead><tr><th>On</th><th>Tells</th><th>Only</th><th></th></tr></thead>
      <tbody>${alerts.map((one, at) => html`<tr><td>${marked(one.on.join(', '))}${one.after_s ? html` <span class="dim">after ${duration(one.after_s)}</span>` : null}</td>
        <td class="code">${marked(one.url ?? one.command?.map(quoted).join(' '))}</td><td class="dim">${marked(one.cwd ?? one.session ?? 'all sessions')}</td>
        <td><button class="quiet danger" onClick=${() => save(alerts.filter((_, index) => index !== at))}>Remove</button></td></tr>`)}</tbody></table></div>` : html`<p class="dim">No alerts yet. Without them, you hear of requests only while the page is open.</p>`}
    <form class="inline alert" onSubmit=${add}>
      <fieldset class="row"><legend class="sr">On</legend>${Object.entries(EVENTS).map(([name, title]) => html`<label class="check"><input type="checkbox" name="on" value=${name} defaultChecked=${name === 'approval'} /> ${title}</label>`)}</fieldset>
      <label class="grow">Address, or program with its arguments <input name="target" class="code" required spellcheck="false" placeholder="/usr/bin/notify-send Quarterdeck" /></label>
      <label>Folder <input name="cwd" spellcheck="false" placeholder="all" /></label>
      <label>Waits, minutes <input name="minutes" type="number" min="0" max="10080" placeholder="0" /></label>
      <button>Add</button></form></section>`;
}
