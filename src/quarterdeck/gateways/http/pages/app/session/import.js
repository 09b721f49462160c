/** Take in a session that was exported elsewhere. */

import { html, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { marked } from '../parts/text.js';
import { go } from '../router.js';
import { importFile } from './saving.js';

/** @param {{onClose: () => void}} props */
export function ImportSession({ onClose }) {
  const [problem, setProblem] = useState('');
  const [share, setShare] = useState(/** @type {number | null} */ (null));
  /** @param {any} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const file = form.get('file');
    if (!(file instanceof File)) return;
    setProblem('');
    setShare(0);
    try {
      const made = await importFile(file, { name: String(form.get('name')).trim(), cwd: String(form.get('cwd')).trim() }, setShare);
      go('session', made.id);
    } catch (error) {
      setProblem(error instanceof TypeError ? 'The host does not respond.' : /** @type {Error} */ (error).message);
      setShare(null);
    }
  };
  return html`<${Dialog} title="Import a session" onClose=${onClose}>
    <form class="new-session" onSubmit=${submit}>
      <p class="dim">Choose a log exported as NDJSON. Imported sessions are archived: you can read and search them, but not continue them.</p>
      <label>File <input name="file" type="file" autofocus accept=".ndjson,.jsonl,application/x-ndjson" required /></label>
      <div class="columns">
        <label>Name <input name="name" placeholder="as in the file" /></label>
        <label>Folder <input name="cwd" placeholder="as in the file" spellcheck="false" /></label>
      </div>
      <p class="problem" role="alert">${marked(problem)}</p>
      ${share === null ? null : html`<progress value=${share} aria-label="Imported" />`}
      <div class="buttons"><button class="primary" disabled=${share !== null}>Import</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}
