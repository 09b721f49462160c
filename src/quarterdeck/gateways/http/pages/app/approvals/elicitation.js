/** An MCP server asks: a form by its schema, or a page to visit. And dialogs of the CLI, as they are. */

import { html, useState } from '../lib.js';
import { marked, visible } from '../parts/text.js';
import { decide } from './deciding.js';
import { Fields } from './looking.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/** @param {{approval: Approval}} props */
export function ElicitationDecision({ approval }) {
  const { server = '', form = null, url = '' } = approval.input ?? {};
  /** @type {[string, any][]} */
  const fields = Object.entries(form?.properties ?? {});
  const required = new Set(Array.isArray(form?.required) ? form.required : []);
  const [values, setValues] = useState(/** @type {Record<string, any>} */ (initial(fields)));
  const host = hostOf(url ?? '');
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    void decide(approval, { decision: 'allow', answers: given }, `Answered ${visible(server)}.`);
  };
  return html`<form class="questions" onSubmit=${submit}>
    <p>${marked(approval.summary)}</p>
    ${url ? html`<p class="visit">It wants you to visit ${host ? html`<b>${marked(host)}</b>: <a href=${url} target="_blank" rel="noopener noreferrer nofollow">${marked(url)}</a>` : html`<code>${marked(url)}</code>`}</p>` : null}
    ${fields.map(([name, schema]) => html`<${Field} name=${name} schema=${schema} required=${required.has(name)} value=${values[name]}
      change=${(/** @type {any} */ value) => setValues({ ...values, [name]: value })} />`)}
    <div class="decision"><div class="buttons">
      <button class="primary">${fields.length ? 'Send' : 'Accept'}</button>
      <button type="button" onClick=${() => decide(approval, { decision: 'deny' }, `Declined ${visible(server)}.`)}>Decline</button>
    </div></div>
  </form>`;
}

/** Of an address that a browser may open; else nothing. @param {unknown} url */
function hostOf(url) {
  try {
    const { protocol, host } = new URL(String(url));
    return protocol === 'https:' || protocol === 'http:' ? host : '';
  } catch {
    return '';
  }
}

/** @param {[string, any][]} fields */
function initial(fields) {
  return Object.fromEntries(fields.map(([name, schema]) => [name, schema?.default ?? (schema?.type === 'boolean' ? false : '')]));
}

/** @param {{name: string, schema: any, required: boolean, value: any, change: (value: any) => void}} props */
function Field({ name, schema, required, value, change }) {
  const title = html`${marked(schema?.title ?? name)}${required ? ' *' : ''}`;
  const about = schema?.description ? html`<small>${marked(schema.description)}</small>` : null;
  if (schema?.type === 'boolean') {
    return html`<label class="check"><input type="checkbox" checked=${value} onChange=${(/** @type {any} */ event) => change(event.target.checked)} /> ${title} ${about}</label>`;
  }
  if (Array.isArray(schema?.enum)) {
    return html`<label>${title} ${about}<select required=${required} value=${value} onChange=${(/** @type {any} */ event) => change(event.target.value)}>
      <option value=""></option>${schema.enum.map((/** @type {any} */ one) => html`<option value=${one}>${visible(one)}</option>`)}</select></label>`;
  }
  const numeric = schema?.type === 'number' || schema?.type === 'integer';
  const changed = (/** @type {any} */ event) => change(numeric && event.target.value !== '' ? Number(event.target.value) : event.target.value);
  return html`<label>${title} ${about}<input type=${numeric ? 'number' : 'text'} step=${schema?.type === 'integer' ? 1 : 'any'} required=${required} value=${value} onInput=${changed} /></label>`;
}

/** @param {{approval: Approval}} props */
export function DialogDecision({ approval }) {
  return html`<${Fields} input=${approval.input ?? {}} />
    <div class="decision"><div class="buttons">
      <button class="primary" onClick=${() => decide(approval, { decision: 'allow' }, 'Done.')}>Accept</button>
      <button onClick=${() => decide(approval, { decision: 'deny' }, 'Cancelled.')}>Cancel</button>
    </div></div>`;
}
