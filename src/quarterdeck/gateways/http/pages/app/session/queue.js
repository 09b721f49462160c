/** Prompts that wait: for the end of a turn, or for a time. What can still be done about them. */

import { deck } from '../deck.js';
import { html, useState } from '../lib.js';
import { Dialog } from '../parts/dialog.js';
import { Time } from '../parts/format.js';
import { marked } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';

/**
 * @typedef {import('../store/types.js').Session} Session
 * @typedef {import('../store/types.js').Prompt} Prompt
 */

/** @param {{session: Session, timeline: import('../store/timeline.js').Timeline}} props */
export function Queue({ session, timeline }) {
  const [edited, setEdited] = useState(/** @type {Prompt | null} */ (null));
  const waiting = timeline.queue.filter((one) => one.state !== 'sent');
  if (!waiting.length) return null;
  /** @param {string} op @param {string} id @param {Record<string, any>} [more] */
  const run = (op, id, more = {}) => attempt(deck().call(op, { session_id: session.id, prompt_id: id, ...more }));
  return html`<ul class="queue" aria-label="Queued prompts">${waiting.map(
    (one, index) => html`<li key=${one.id}><span class="tag">${one.not_before ? html`<${Time} at=${one.not_before} exact=${true} />` : one.state}</span><span class="what">${marked(textOf(one))}</span>
      ${one.state === 'queued' && html`<span class="tools">
        ${index > 0 && html`<button type="button" class="quiet" aria-label="Move up" onClick=${() => run('update_prompt', one.id, { position: timeline.queue.indexOf(waiting[index - 1]) })}>↑</button>`}
        ${one.not_before && html`<button type="button" class="quiet" onClick=${() => run('update_prompt', one.id, { not_before: null })}>Send now</button>`}
        <button type="button" class="quiet" onClick=${() => setEdited(one)}>Edit</button>
        <button type="button" class="quiet" onClick=${() => run('withdraw_prompt', one.id)}>Withdraw</button></span>`}</li>`,
  )}</ul>
  ${edited && html`<${Edit} prompt=${edited} onClose=${() => setEdited(null)} save=${(/** @type {Record<string, any>} */ changes) => run('update_prompt', edited.id, changes)} />`}`;
}

/** @param {Prompt} prompt */
const textOf = (prompt) => (typeof prompt.content === 'string' ? prompt.content : JSON.stringify(prompt.content));

/** @param {{prompt: Prompt, save: (changes: Record<string, any>) => Promise<any>, onClose: () => void}} props */
function Edit({ prompt, save, onClose }) {
  /** @param {Record<string, any>} given */
  const done = async (given) => {
    if ((await save(given)) !== undefined) onClose();
  };
  return html`<${When} title="Edit the prompt" text=${typeof prompt.content === 'string' ? prompt.content : null} at=${prompt.not_before ?? ''} idle="When idle" button="Save" onClose=${onClose} done=${done} />`;
}

/** When a prompt is to be sent: at a time, or as soon as nothing else is going on.
 * @param {{title: string, text: string | null, at: string, idle: string, button: string, onClose: () => void,
 *   done: (given: {content?: string, not_before: string | null}) => void}} props `text`: null if it cannot be edited here. */
export function When({ title, text, at, idle, button, onClose, done }) {
  const [timed, setTimed] = useState(Boolean(at));
  const [written, setWritten] = useState(text ?? '');
  /** @param {any} event */
  const submit = (event) => {
    event.preventDefault();
    event.stopPropagation();
    const form = new FormData(event.target);
    const content = String(form.get('content') ?? '').trim();
    const time = timed ? new Date(String(form.get('time'))).toISOString() : null;
    done({ ...(content ? { content } : {}), not_before: time });
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form class="new-session" onSubmit=${submit}>
      ${text === null ? null : html`<label>Prompt <textarea name="content" rows="4" required value=${written} onInput=${(/** @type {any} */ event) => setWritten(event.target.value)} /></label>`}
      <fieldset class="row"><legend>Send it</legend>
        <label class="check"><input type="radio" name="when" checked=${timed} onChange=${() => setTimed(true)} /> At a time</label>
        <label class="check"><input type="radio" name="when" checked=${!timed} onChange=${() => setTimed(false)} /> ${idle}</label></fieldset>
      ${timed && html`<label>Time <input name="time" type="datetime-local" required defaultValue=${local(at ? new Date(at) : new Date(Date.now() + 3_600_000))} /></label>`}
      <div class="buttons"><button class="primary">${button}</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

/** As the browser's own field for a time has it. @param {Date} date */
function local(date) {
  const shifted = new Date(date.getTime() - 60_000 * date.getTimezoneOffset());
  return shifted.toISOString().slice(0, 16);
}
