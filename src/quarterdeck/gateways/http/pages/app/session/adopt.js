/** Conversations that were begun in a terminal: continue one here. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { Time } from '../parts/format.js';
import { marked, visible } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';
import { go, link } from '../router.js';

/** @typedef {{session_id: string, summary: string, last_modified: number, cwd?: string | null, git_branch?: string | null, excerpt?: string, adopted_as?: string | null}} Transcript */

const SHOWN = 100;
const PAUSE_MS = 200;

/** @param {{onClose: () => void}} props */
export function Adopt({ onClose }) {
  const [wanted, setWanted] = useState('');
  const [found, setFound] = useState(/** @type {Transcript[] | null} */ (null));
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let asked = true;
    const asking = () => deck().call('list_transcripts', { q: wanted.trim() }).then(({ transcripts }) => asked && setFound(transcripts), (error) => asked && setProblem(error.message));
    const timer = setTimeout(asking, wanted ? PAUSE_MS : 0);
    return () => {
      asked = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  /** @param {Transcript} one */
  const adopt = async (one) => {
    const made = await attempt(deck().call('adopt_transcript', { transcript_id: one.session_id }));
    if (made) go('session', made.id);
  };
  // Those that are sessions already are of interest only to who looks for one.
  const fitting = (found ?? []).filter((one) => wanted || !one.adopted_as);
  const shown = fitting.slice(0, SHOWN);
  return html`<${Dialog} title="Continue from a terminal" onClose=${onClose} wide=${true}>
    <div class="adopt">
      <input type="search" aria-label="Search transcripts" placeholder="Search their text" value=${wanted} autofocus onInput=${(/** @type {any} */ event) => setWanted(event.target.value)} />
      <p class="problem" role="alert">${marked(problem)}</p>
      <p class="sr" role="status">${found ? `${fitting.length} conversations` : 'Looking'}</p>
      ${found && !fitting.length ? html`<p class="dim">No conversations found.</p>` : null}
      <ul>${shown.map((one) => html`<li key=${one.session_id}>
        <div><p class="what" title=${visible(one.summary)}>${marked(one.summary || one.session_id.slice(0, 8))}</p>
          <p class="dim what">${marked(one.cwd ?? '')}${one.git_branch ? html` · ${marked(one.git_branch)}` : null} · <${Time} at=${one.last_modified / 1_000} /></p>
          ${one.excerpt ? html`<p class="dim what">${marked(one.excerpt)}</p>` : null}</div>
        ${one.adopted_as ? html`<a class="button" href=${link('session', one.adopted_as)}>Open</a>` : html`<button onClick=${() => adopt(one)} aria-label=${`Continue ${visible(one.summary)}`}>Continue here</button>`}
      </li>`)}</ul>
      ${fitting.length > SHOWN ? html`<p class="dim">${fitting.length - SHOWN} more; search for them.</p>` : null}
    </div>
  <//>`;
}
