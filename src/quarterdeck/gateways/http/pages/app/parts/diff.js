/** Changes of files: unified or side by side, the changed words marked, and a summary to fold them by. */

import { html, signal, useEffect, useMemo, useState } from '../lib.js';
import { diffStyle } from './preferences.js';
import { marked, visible } from './text.js';

/**
 * @typedef {import('../store/types.js').FileDiff} FileDiff
 * @typedef {{mark: string, text: string, old?: number, new?: number, words?: {text: string, changed: boolean}[]}} Line
 */

/** jsdiff, once something needs it: a first look at the inbox mostly does not. @type {import('../vendor/signals.js').Signal<any>} */
const library = signal(null);
const LONGEST_LINE = 2_000;
const SHOWN_LINES = 400;

/** @param {{diffs: FileDiff[], open?: boolean}} props */
export function Diffs({ diffs, open = true }) {
  return html`<div class="diffs">${diffs.map((diff) => html`<${FileChange} key=${diff.path} diff=${diff} open=${open} />`)}</div>`;
}

async function loadLibrary() {
  await import('../vendor/diff.js');
  library.value = /** @type {any} */ (globalThis).Diff;
}

/** @param {{diff: FileDiff, open?: boolean}} props */
export function FileChange({ diff, open = true }) {
  useEffect(() => {
    if (!library.value) loadLibrary().catch(() => {}); // without it no words are marked
  }, []);
  const [whole, setWhole] = useState(false);
  const lines = useMemo(() => diff.hunks.flatMap((hunk, index) => [...(index ? [{ mark: '@', text: '' }] : []), ...linesOf(hunk, diff.numbered ?? false)]), [diff]);
  const shown = whole ? lines : lines.slice(0, SHOWN_LINES);
  useMemo(() => markWords(shown), [shown.length, lines, library.value]);
  const split = diffStyle.value === 'split';
  return html`<details class="diff" open=${open}>
    <summary>
      <span class="path" title=${visible(diff.path)}>${marked(diff.path)}</span>
      <span class="kind">${diff.kind === 'update' ? '' : marked(diff.kind)}</span>
      <span class="added">+${diff.added ?? 0}</span> <span class="removed">−${diff.removed ?? 0}</span>
    </summary>
    <div class="lines" tabindex="0" role="region" aria-label=${`Changes of ${visible(diff.path)}`}>
      ${split ? html`<${Split} lines=${shown} />` : html`<${Unified} lines=${shown} />`}
    </div>
    ${lines.length > shown.length &&
    html`<button class="more" onClick=${() => setWhole(true)}>Show ${lines.length - shown.length} more lines</button>`}
    ${diff.left_out ? html`<p class="note">${diff.left_out} lines were too many to keep.</p>` : null}
  </details>`;
}

/** @param {{lines: Line[]}} props */
function Unified({ lines }) {
  const numbered = lines.some((line) => line.old !== undefined || line.new !== undefined);
  return html`<table class="unified"><tbody>
    ${lines.map(
      (line) => html`<tr class=${classOf(line.mark)}>
        ${numbered && html`<td class="no">${line.old}</td><td class="no">${line.new}</td>`}
        <td class="mark">${line.mark === '@' ? '⋯' : line.mark}</td>
        <td class="code"><${Code} line=${line} /></td>
      </tr>`,
    )}
  </tbody></table>`;
}

/** @param {{lines: Line[]}} props */
function Split({ lines }) {
  return html`<table class="split"><tbody>
    ${pairs(lines).map(
      ([before, after]) => html`<tr>
        <td class="no">${before?.old}</td>
        <td class=${`code ${before ? classOf(before.mark) : 'none'}`}>${before && html`<${Code} line=${before} />`}</td>
        <td class="no">${after?.new}</td>
        <td class=${`code ${after ? classOf(after.mark) : 'none'}`}>${after && html`<${Code} line=${after} />`}</td>
      </tr>`,
    )}
  </tbody></table>`;
}

/** @param {{line: Line}} props */
function Code({ line }) {
  if (!line.words) return html`${marked(line.text) || '\u200a'}`;
  return line.words.map((word) => (word.changed ? html`<mark>${marked(word.text)}</mark>` : marked(word.text)));
}

/** @param {string} mark */
const classOf = (mark) => ({ '+': 'plus', '-': 'minus', '@': 'skip' })[mark] ?? 'same';

/** @param {import('../store/types.js').Hunk} hunk @param {boolean} numbered @returns {Line[]} */
export function linesOf(hunk, numbered) {
  let before = hunk.old_start;
  let after = hunk.new_start;
  /** @type {Line[]} */
  const lines = hunk.lines.map((raw) => {
    const mark = raw[0] ?? ' ';
    /** @type {Line} */
    const line = { mark, text: raw.slice(1) };
    if (mark !== '+') before += 1;
    if (mark !== '-') after += 1;
    if (numbered && mark !== '+') line.old = before - 1;
    if (numbered && mark !== '-') line.new = after - 1;
    return line;
  });
  return lines;
}

/** Lines that were replaced one by one: which of their words changed. @param {Line[]} lines */
function markWords(lines) {
  for (let at = 0; at < lines.length; ) {
    let middle = at;
    while (lines[middle]?.mark === '-') middle += 1;
    let end = middle;
    while (lines[end]?.mark === '+') end += 1;
    const same = middle - at === end - middle && middle > at;
    for (let index = 0; same && index < middle - at; index += 1) markPair(lines[at + index], lines[middle + index]);
    at = Math.max(end, at + 1);
  }
}

/** @param {Line} before @param {Line} after */
function markPair(before, after) {
  if (!library.value || before.text.length + after.text.length > LONGEST_LINE) return;
  /** @type {{value: string, added?: boolean, removed?: boolean}[]} */
  const changes = library.value.diffWordsWithSpace(before.text, after.text);
  const same = changes.filter((one) => !one.added && !one.removed).reduce((sum, one) => sum + one.value.trim().length, 0);
  if (same < 3) return; // another line altogether
  before.words = changes.filter((one) => !one.added).map((one) => ({ text: one.value, changed: Boolean(one.removed) }));
  after.words = changes.filter((one) => !one.removed).map((one) => ({ text: one.value, changed: Boolean(one.added) }));
}

/** @param {Line[]} lines @returns {[Line | undefined, Line | undefined][]} */
export function pairs(lines) {
  /** @type {[Line | undefined, Line | undefined][]} */
  const rows = [];
  /** @type {Line[]} */
  let gone = [];
  const flush = () => {
    for (const line of gone) rows.push([line, undefined]);
    gone = [];
  };
  for (const line of lines) {
    if (line.mark === '-') gone.push(line);
    else if (line.mark === '+') rows.push([gone.shift(), line]);
    else {
      flush();
      rows.push([line, line]);
    }
  }
  flush();
  return rows;
}

/** A patch as git writes it, as changes of files. @param {string} patch @returns {Promise<FileDiff[]>} */
export async function parsePatch(patch) {
  await loadLibrary();
  /** @type {any[]} */
  const files = library.value.parsePatch(patch);
  return files.filter((file) => file.oldFileName || file.newFileName || file.index).map((file) => {
    const name = (/** @type {string | undefined} */ one) => (one && one !== '/dev/null' ? one.replace(/^[ab]\//, '') : '');
    const lines = file.hunks.flatMap((/** @type {any} */ hunk) => hunk.lines);
    return {
      path: name(file.newFileName) || name(file.oldFileName) || file.index || '',
      kind: file.oldFileName === '/dev/null' ? 'create' : file.newFileName === '/dev/null' ? 'delete' : 'update',
      numbered: true,
      added: lines.filter((/** @type {string} */ line) => line[0] === '+').length,
      removed: lines.filter((/** @type {string} */ line) => line[0] === '-').length,
      hunks: file.hunks.map((/** @type {any} */ hunk) => ({
        old_start: hunk.oldStart,
        old_lines: hunk.oldLines,
        new_start: hunk.newStart,
        new_lines: hunk.newLines,
        lines: hunk.lines.filter((/** @type {string} */ line) => line[0] !== '\\'),
      })),
    };
  });
}
