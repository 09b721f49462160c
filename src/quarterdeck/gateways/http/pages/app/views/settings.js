/** How the page looks, who may use the host, what may be spent, and who is told about what. */

import { options } from '../approvals/permission.js';
import { current, deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { forget } from '../net/login.js';
import { Time } from '../parts/format.js';
import { diffStyle, notify, showThinking, theme } from '../parts/preferences.js';
import { marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';

export function Settings() {
  const [host, setHost] = useState(/** @type {any} */ (null));
  useEffect(() => {
    deck().call('get_host').then(setHost, () => {});
  }, []);
  return html`<div class="page"><header class="bar"><h1>Settings</h1></header>
    <div class="scroll padded settings">
      <${Appearance} /><${Budgets} /><${Tokens} /><${Alerts} />
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
  const ask = async () => {
    if (!notify.value && 'Notification' in globalThis && (await Notification.requestPermission()) !== 'granted') say('The browser does not allow notifications for this page.', 'error');
    else notify.value = !notify.value;
  };
  return html`<section><h2>This browser</h2>
    <label>Colours <select value=${theme.value} onChange=${(/** @type {any} */ event) => (theme.value = event.target.value)}>${options({ system: 'system', light: 'light', dark: 'dark' })}</select></label>
    <label>Diffs <select value=${diffStyle.value} onChange=${(/** @type {any} */ event) => (diffStyle.value = event.target.value)}>${options({ unified: 'unified', split: 'side by side' })}</select></label>
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
    <label>A day, USD <input name="day_usd" inputmode="decimal" value=${budgets.day_usd ?? ''} placeholder="none" /></label>
    <label>A month, USD <input name="month_usd" inputmode="decimal" value=${budgets.month_usd ?? ''} placeholder="none" /></label>
    <button>Save</button></form></section>`;
}

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
    <div class="scroll-x"><table><thead><tr><th>Name</th><th>May</th><th>Folders</th><th class="number">Last used</th><th>Expires</th><th></th></tr></thead>
      <tbody>${live.map((one) => html`<tr key=${one.id}><td>${marked(one.name)}</td><td>${one.scope}</td><td class="dim">${marked((one.folders ?? []).join(', ') || 'all')}</td><td class="number dim">${one.last_used_at ? html`<${Time} at=${one.last_used_at} />` : 'never'}</td><td class="dim">${one.expires_at ? html`<${Time} at=${one.expires_at} exact=${true} />` : 'never'}</td><td><button class="quiet danger" onClick=${() => revoke(one)}>Revoke</button></td></tr>`)}</tbody></table></div>
    ${made && html`<p class="made" role="status">The secret of ${marked(made.name)}, shown only now: <code>${made.secret}</code></p>`}
    <form class="inline" onSubmit=${create}><label>Name <input name="name" required /></label><label>May <select name="scope">${options(SCOPES)}</select></label><label>Days <input name="days" type="number" min="1" placeholder="no expiry" /></label><button>Make a token</button></form>
  </section>`;
}

/** As the host keeps them: a list of what is told to which address or command. */
function Alerts() {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    deck().call('get_alerts').then((found) => setText(JSON.stringify(found.alerts ?? [], null, 2)), () => setText(null));
  }, []);
  if (text === null) return null;
  /** @param {Event} event */
  const save = async (event) => {
    event.preventDefault();
    const saved = await attempt((async () => deck().call('set_alerts', { settings: { alerts: JSON.parse(text) } }))());
    if (saved) say('Alerts saved.');
  };
  return html`<section><h2>Alerts</h2><form onSubmit=${save}>
    <label>A list of <code>on</code> (approval, crashed, budget …) with a <code>url</code> or a <code>command</code>
      <textarea class="code" rows="6" spellcheck="false" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></label>
    <button>Save</button></form></section>`;
}
