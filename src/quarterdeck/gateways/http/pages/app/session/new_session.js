/** Start a session: where, with what, how. */

import { options } from '../approvals/permission.js';
import { deck } from '../deck.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { recentFolders } from '../parts/preferences.js';
import { marked, visible } from '../parts/text.js';
import { go } from '../router.js';
import { MODES } from './choices.js';
import { contents, savePreset, usePresets } from './presets.js';

/** So that files can be set back to a prompt. */
const OPTIONS = { enable_file_checkpointing: true };
/** What a preset keeps of the form. */
const KEPT = ['model', 'permission_mode', 'budget_usd'];

/** @param {{onClose: () => void}} props */
export function NewSession({ onClose }) {
  const { host } = deck();
  const sessions = [...host.sessions.value.values()];
  const [cwd, setCwd] = useState(recentFolders.value[0] ?? sessions[0]?.cwd ?? '');
  const [folders, setFolders] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [presets, fetchPresets] = usePresets();
  const [chosen, setChosen] = useState('');
  const [naming, setNaming] = useState(false);
  const place = useRef(/** @type {HTMLFormElement | null} */ (null));
  /** @type {import('./presets.js').Preset} */
  const preset = Object.hasOwn(presets, chosen) ? presets[chosen] : {};
  /** What is filled in. @param {string[]} names @returns {Record<string, string>} */
  const filled = (names) => {
    const form = new FormData(place.current ?? undefined);
    return Object.fromEntries(names.map((name) => [name, String(form.get(name) ?? '').trim()]).filter(([, value]) => value));
  };
  useEffect(() => {
    let wanted = true;
    deck().call('list_folders', { prefix: cwd }).then(({ paths }) => wanted && setFolders(paths.slice(0, 50)), () => wanted && setFolders([]));
    return () => {
      wanted = false;
    };
  }, [cwd]);
  /** @param {any} event */
  const submit = async (event) => {
    event.preventDefault();
    const given = filled(['cwd', 'preset', 'prompt', 'name', 'worktree', ...KEPT]);
    setBusy(true);
    setProblem('');
    try {
      const made = await deck().call('create_session', { options: OPTIONS, ...given });
      recentFolders.value = [given.cwd, ...recentFolders.value.filter((one) => one !== given.cwd)].slice(0, 8);
      go('session', made.id);
    } catch (error) {
      setProblem(/** @type {any} */ (error).hint ? `${/** @type {Error} */ (error).message} ${/** @type {any} */ (error).hint}` : /** @type {Error} */ (error).message);
      setBusy(false);
    }
  };
  /** @param {string} name */
  const save = async (name) => {
    if (!(await savePreset(name, { ...preset, ...filled(KEPT), options: { ...preset.options, ...OPTIONS } }))) return;
    setNaming(false);
    await fetchPresets();
    setChosen(name);
  };
  const known = [...new Set([...recentFolders.value, ...sessions.map((one) => one.cwd)])];
  const models = [...new Set(['opus', 'sonnet', 'haiku', ...sessions.map((one) => one.model ?? '')])].filter(Boolean);
  return html`<${Dialog} title="New session" onClose=${onClose}>
    <form class="new-session" ref=${place} onSubmit=${submit}>
      <label>Folder <input name="cwd" list="folders" required value=${cwd} spellcheck="false" autocomplete="off" onInput=${(/** @type {any} */ event) => setCwd(event.target.value)} /></label>
      <datalist id="folders">${[...new Set([...known, ...folders])].map((one) => html`<option value=${visible(one)} />`)}</datalist>
      <label>Prompt <textarea name="prompt" rows="5" autofocus placeholder="What should it do? (optional)" /></label>
      ${Object.keys(presets).length ? html`<label>Preset <select name="preset" value=${chosen} onChange=${(/** @type {any} */ event) => setChosen(event.target.value)}><option value="">none</option>
        ${Object.keys(presets).map((one) => html`<option value=${one}>${visible(one)}</option>`)}</select></label>` : null}
      ${chosen && html`<p class="dim" role="status">${preset.about ? html`${marked(preset.about)}: ` : null}${marked(contents(preset))}</p>`}
      <div class="columns">
        <label>Model <input name="model" list="models" placeholder=${visible(preset.model ?? 'default')} spellcheck="false" /></label>
        <label>Mode <select name="permission_mode"><option value="">${preset.permission_mode ? `${named(preset.permission_mode)} (preset)` : 'default'}</option>${options(MODES)}</select></label>
        <label>Worktree <input name="worktree" placeholder="none" spellcheck="false" /></label>
      </div>
      <div class="columns">
        <label>Name <input name="name" placeholder="from the prompt" /></label>
        <label>Budget in USD <input name="budget_usd" inputmode="decimal" placeholder=${visible(preset.budget_usd ?? 'none')} pattern="[0-9]*[.]?[0-9]+" /></label>
      </div>
      <datalist id="models">${models.map((one) => html`<option value=${visible(one)} />`)}</datalist>
      <p class="problem" role="alert">${marked(problem)}</p>
      <div class="buttons"><button class="primary" disabled=${busy}>Start</button><button type="button" onClick=${onClose}>Cancel</button><span class="gap" />
        <button type="button" class="quiet" aria-expanded=${naming} onClick=${() => setNaming(!naming)}>Save as preset…</button></div>
    </form>
    ${naming && html`<${Naming} chosen=${chosen} save=${save} />`}
  <//>`;
}

/** @param {string} mode */
const named = (mode) => (Object.hasOwn(MODES, mode) ? /** @type {Record<string, string>} */ (MODES)[mode] : visible(mode));

/** @param {{chosen: string, save: (name: string) => void}} props */
function Naming({ chosen, save }) {
  /** @param {any} event */
  const submit = (event) => {
    event.preventDefault();
    save(String(new FormData(event.target).get('preset_name')).trim());
  };
  return html`<form class="naming inline" onSubmit=${submit}>
    <label class="grow">Name of the preset <input name="preset_name" required maxlength="100" autofocus defaultValue=${chosen} ref=${(/** @type {HTMLElement | null} */ element) => element?.focus()} /></label>
    <button>Save</button><p class="dim">Keeps model, mode and budget, and what the chosen preset sets.</p>
  </form>`;
}
