/** Say something: send, steer, queue or interrupt; commands and files completed; images by paste and drop. */

import { deck } from '../deck.js';
import { html, signal, useEffect, useRef, useState } from '../lib.js';
import { api } from '../net/early.js';
import { useKeys } from '../parts/keys.js';
import { marked, visible } from '../parts/text.js';
import { attempt, say } from '../parts/toasts.js';
import { Choices } from './choices.js';
import { Completion, useCompletion } from './completion.js';
import { Queue, When } from './queue.js';

/** @typedef {{name: string, media_type: string, data: string, url: string}} Picture */

const BUSY = new Set(['running', 'waiting', 'compacting', 'limited', 'starting']);
const LARGEST_IMAGE = 5 * 1024 * 1024;
/** @type {Map<string, import('../vendor/signals.js').Signal<string>>} What was typed and not sent, by session. */
const drafts = new Map();

/** @param {string} id */
function draftOf(id) {
  const draft = drafts.get(id) ?? signal('');
  drafts.set(id, draft);
  return draft;
}

/** @param {{session: import('../store/types.js').Session, timeline: import('../store/timeline.js').Timeline, info: Record<string, any> | null}} props */
export function Composer({ session, timeline, info }) {
  const draft = draftOf(session.id);
  const text = draft.value;
  const [pictures, setPictures] = useState(/** @type {Picture[]} */ ([]));
  const place = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const busy = BUSY.has(session.state);
  const write = (/** @type {string} */ value) => {
    draft.value = value;
  };
  const completion = useCompletion({ session, info, text, write, place });
  useEffect(() => grow(place.current), [text]);
  const [asking, setAsking] = useState(false);
  /** @param {'next' | 'later' | 'now'} priority @param {string | null} [time] */
  const send = async (priority, time = null) => {
    const typed = place.current?.value ?? text; // what is in the box, also if it has not been drawn yet
    const said = typed.trim();
    if (!said && !pictures.length) return;
    const blocks = pictures.map(({ media_type, data }) => ({ type: 'image', source: { type: 'base64', media_type, data } }));
    const content = blocks.length ? [...blocks, ...(said ? [{ type: 'text', text: said }] : [])] : said;
    write('');
    setPictures([]);
    const accepted = await attempt(deck().call('send_prompt', { session_id: session.id, content, priority, ...(time ? { not_before: time } : {}) }));
    if (accepted !== undefined) return;
    // It was refused: nothing is lost of it, nor of what has been typed since.
    write([typed, draft.peek()].filter(Boolean).join('\n'));
    setPictures((known) => [...pictures, ...known]);
  };
  const sendLater = () => (place.current?.value.trim() || pictures.length ? setAsking(true) : place.current?.focus());
  const interrupt = () => attempt(deck().call('interrupt', { session_id: session.id }));
  useKeys('Composer', [
    { keys: 'i', does: 'Write', run: () => place.current?.focus() },
    { keys: 'Enter', does: 'Send the prompt; during a turn, steer it' },
    { keys: 'Ctrl+Enter', does: 'Queue the prompt after the turn' },
    { keys: 'Shift+Enter', does: 'New line' },
    { keys: 'Escape', does: 'Leave the prompt' },
    { keys: '/', does: 'At its beginning: commands' },
    { keys: '@', does: 'Files' },
    { keys: 'Ctrl+Shift+Enter', does: 'Send the prompt later', always: true, run: sendLater },
    { keys: 'Ctrl+.', does: 'Interrupt the turn', always: true, run: () => busy && void interrupt() },
  ]);
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (completion.pressed(event) || event.isComposing || (event.ctrlKey && event.shiftKey)) return;
    if (event.key === 'Escape') place.current?.blur();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send(busy ? 'later' : 'next');
    else if (event.key === 'Enter' && !event.shiftKey) void send('next');
    else return;
    event.preventDefault();
  };
  /** @param {DataTransfer | null} data @param {Event} event */
  const take = async (data, event) => {
    const files = [...(data?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    const mention = (/** @type {string} */ path) => {
      const said = draft.peek(); // typing goes on meanwhile
      write(`${said}${said && !/\s$/.test(said) ? ' ' : ''}@${path} `);
    };
    for (const file of files) {
      if (file.type.startsWith('image/')) await addPicture(file, (one) => setPictures((known) => [...known, one]));
      else await attempt(upload(session.id, file, mention));
    }
  };
  return html`<form class="composer" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    void send('next');
  }} onDragOver=${(/** @type {Event} */ event) => event.preventDefault()} onDrop=${(/** @type {DragEvent} */ event) => take(event.dataTransfer, event)}>
    <${Queue} session=${session} timeline=${timeline} />
    ${timeline.suggestion && !text ? html`<button type="button" class="suggestion" onClick=${() => write(timeline.suggestion ?? '')}>${marked(timeline.suggestion)}</button>` : null}
    ${pictures.length ? html`<ul class="pictures">${pictures.map((one, index) => html`<li><img src=${one.url} alt=${visible(one.name)} /><button type="button" class="quiet" aria-label=${`Remove ${visible(one.name)}`} onClick=${() => setPictures(pictures.filter((_, at) => at !== index))}>✕</button></li>`)}</ul>` : null}
    <${Completion} ...${completion} />
    <div class="box">
      <textarea ref=${place} rows="1" value=${text} placeholder=${busy ? 'Steer the turn, or queue a prompt' : 'Write a prompt. / for commands, @ for files'} aria-label="Prompt"
        role="combobox" aria-expanded=${completion.choices.length > 0} aria-controls=${completion.choices.length ? 'completion' : undefined} aria-activedescendant=${completion.choices.length ? `completion-${completion.at}` : undefined} aria-autocomplete="list"
        onInput=${(/** @type {any} */ event) => write(event.target.value)} onKeyDown=${pressed} onPaste=${(/** @type {ClipboardEvent} */ event) => take(event.clipboardData, event)} />
      <div class="foot">
        <${Choices} session=${session} timeline=${timeline} info=${info} /><span class="gap" />
        <button type="button" class="quiet" onClick=${sendLater} title="At a time, or when idle (Ctrl+Shift+Enter)">Later…</button>
        ${busy
          ? html`<button type="button" class="danger" onClick=${interrupt} title="Ctrl+.">Interrupt</button>
              <button type="button" onClick=${() => send('later')} title="After this turn (Ctrl+Enter)">Queue</button>
              <button class="primary" title="With the next step (Enter)">Steer</button>`
          : html`<button class="primary" title="Enter">Send</button>`}
      </div>
    </div>
    ${asking && html`<${When} title="Send later" text=${null} at="" idle="When idle" button="Schedule" onClose=${() => setAsking(false)} done=${(/** @type {{not_before: string | null}} */ given) => {
      setAsking(false);
      void send('later', given.not_before);
    }} />`}
  </form>`;
}

/** @param {HTMLTextAreaElement | null} element */
function grow(element) {
  if (!element) return;
  element.style.height = 'auto';
  element.style.height = `${Math.min(element.scrollHeight, 0.4 * innerHeight)}px`;
}

/** @param {File} file @param {(one: Picture) => void} add */
async function addPicture(file, add) {
  if (file.size > LARGEST_IMAGE) {
    say(`${file.name} is larger than 5 MB.`, 'error');
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  add({ name: file.name, media_type: file.type, data: btoa(text), url: URL.createObjectURL(file) });
}

/** A file that is no image goes to the host, and the prompt names where it is. @param {string} id @param {File} file @param {(path: string) => void} told */
async function upload(id, file, told) {
  const headers = { authorization: `Bearer ${deck().connection.token}`, 'content-type': file.type || 'application/octet-stream' };
  const address = `${api(`sessions/${encodeURIComponent(id)}/uploads`)}?name=${encodeURIComponent(file.name)}`;
  const answer = await fetch(address, { method: 'POST', headers, body: file });
  const body = await answer.json();
  if (answer.ok) told(body.path);
  else say(body.detail ?? 'The upload failed.', 'error');
}
