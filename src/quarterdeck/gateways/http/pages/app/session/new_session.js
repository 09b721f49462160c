/** Start a session: where, with what, how. */

import { options } from '../approvals/permission.js';
import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { recentFolders } from '../parts/preferences.js';
import { visible } from '../parts/text.js';
import { go } from '../router.js';
import { MODES } from './choices.js';

/** So that files can be set back to a prompt. */
const OPTIONS = { enable_file_checkpointing: true };

/** @param {{onClose: () => void}} props */
export function NewSession({ onClose }) {
  const { host } = deck();
  const sessions = [...host.sessions.value.values()];
  const [cwd, setCwd] = useState(recentFolders.value[0] ?? sessions[0]?.cwd ?? '');
  const [folders, setFolders] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
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
    const form = new FormData(event.target);
    const text = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
    const given = Object.fromEntries(['prompt', 'name', 'model', 'permission_mode', 'worktree', 'budget_usd'].map((name) => [name, text(name)]).filter(([, value]) => value));
    setBusy(true);
    setProblem('');
    try {
      const made = await deck().call('create_session', { cwd: text('cwd'), options: OPTIONS, ...given });
      recentFolders.value = [text('cwd'), ...recentFolders.value.filter((one) => one !== text('cwd'))].slice(0, 8);
      go('session', made.id);
    } catch (error) {
      setProblem(/** @type {any} */ (error).hint ? `${/** @type {Error} */ (error).message} ${/** @type {any} */ (error).hint}` : /** @type {Error} */ (error).message);
      setBusy(false);
    }
  };
  const known = [...new Set([...recentFolders.value, ...sessions.map((one) => one.cwd)])];
  const models = [...new Set(['opus', 'sonnet', 'haiku', ...sessions.map((one) => one.model ?? '')])].filter(Boolean);
  return html`<${Dialog} title="New session" onClose=${onClose}>
    <form class="new-session" onSubmit=${submit}>
      <label>Folder <input name="cwd" list="folders" required value=${cwd} spellcheck="false" autocomplete="off" onInput=${(/** @type {any} */ event) => setCwd(event.target.value)} /></label>
      <datalist id="folders">${[...new Set([...known, ...folders])].map((one) => html`<option value=${visible(one)} />`)}</datalist>
      <label>Prompt <textarea name="prompt" rows="5" autofocus placeholder="What should it do? (optional)" /></label>
      <div class="columns">
        <label>Model <input name="model" list="models" placeholder="default" spellcheck="false" /></label>
        <label>Mode <select name="permission_mode"><option value="">default</option>${options(MODES)}</select></label>
        <label>Worktree <input name="worktree" placeholder="none" spellcheck="false" /></label>
      </div>
      <div class="columns">
        <label>Name <input name="name" placeholder="from the prompt" /></label>
        <label>Budget in USD <input name="budget_usd" inputmode="decimal" placeholder="none" pattern="[0-9]*[.]?[0-9]+" /></label>
      </div>
      <datalist id="models">${models.map((one) => html`<option value=${visible(one)} />`)}</datalist>
      <p class="problem" role="alert">${problem}</p>
      <div class="buttons"><button class="primary" disabled=${busy}>Start</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}
