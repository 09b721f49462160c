/** Presets: named sets of options for new sessions. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';

/** @typedef {{about?: string, agent?: string, model?: string, permission_mode?: string, options?: Record<string, any>, budget_usd?: string, tags?: string[], [more: string]: any}} Preset */
/** @typedef {Record<string, Preset>} Presets */

/** @returns {Promise<Presets>} */
const fetchPresets = async () => (await deck().call('get_presets')).presets ?? {};

/** What there is, and how to look again. @returns {[Presets, () => Promise<void>]} */
export function usePresets() {
  const [presets, setPresets] = useState(/** @type {Presets} */ ({}));
  const fetch = () => fetchPresets().then(setPresets, () => {});
  useEffect(() => void fetch(), []);
  return [presets, fetch];
}

/** All are written at once, so others' are read right before. @param {(known: Presets) => Presets} change @param {string} told */
async function change(change, told) {
  const done = await attempt(fetchPresets().then((known) => deck().call('set_presets', { settings: { presets: change(known) } })));
  if (done) say(told);
  return done !== undefined;
}

/** @param {string} name @param {Preset} preset */
export const savePreset = (name, preset) => change((known) => ({ ...known, [name]: { ...known[name], ...preset } }), `Saved the preset ${visible(name)}.`);

/** @param {string} name */
const removePreset = (name) => change(({ [name]: _, ...others }) => others, `Removed the preset ${visible(name)}.`);

/** In one line. @param {Preset} preset */
export function contents(preset) {
  const { about: _, options = {}, budget_usd, tags = [], ...rest } = preset;
  const plain = Object.values(rest).filter((value) => typeof value === 'string');
  const others = Object.keys(rest).filter((name) => typeof rest[name] !== 'string');
  return [...plain, budget_usd ? `$${budget_usd}` : '', ...tags, ...Object.keys(options), ...others].filter(Boolean).join(', ');
}

/** For the settings. */
export function PresetList() {
  const [presets, fetch] = usePresets();
  const names = Object.keys(presets);
  /** @param {string} name */
  const remove = async (name) => {
    if (confirm(`Remove the preset ${visible(name)}?`) && (await removePreset(name))) await fetch();
  };
  return html`<section class="presets"><h2>Presets</h2>
    ${names.length ? html`<div class="scroll-x"><table><thead><tr><th>Name</th><th>Sets</th><th></th></tr></thead>
      <tbody>${names.map((name) => html`<tr key=${name}><td>${marked(name)}${presets[name].about ? html`<br /><span class="dim">${marked(presets[name].about)}</span>` : null}</td><td class="dim">${marked(contents(presets[name]))}</td>
        <td><button class="quiet danger" aria-label=${`Remove ${visible(name)}`} onClick=${() => remove(name)}>Remove</button></td></tr>`)}</tbody></table></div>`
      : html`<p class="dim">None yet. You can save one when you start a session.</p>`}
  </section>`;
}
