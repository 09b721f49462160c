/** Changes of files: unified or side by side, the changed words marked, and a summary to fold them by. */

import { html, signal, useEffect, useMemo, useState } from '../lib.js';
import { languageOf, pieces } from './code.js';
import { cut } from './command.js';
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
    ${lines.length ? html`<div class="lines" tabindex="0" role="region" aria-label=${`Changes of ${visible(diff.path)}`}>
      ${split ? html`<${Split} lines=${shown} language=${languageOf(diff.path)} />` : html`<${Unified} lines=${shown} language=${languageOf(diff.path)} />`}
    </div>` : null}
    ${diff.note ? html`<p class="note">${marked(diff.note)}</p>` : null}
    ${lines.length > shown.length &&
    html`<button class="more" onClick=${() => setWhole(true)}>Show ${lines.length - shown.length} more lines</button>`}
    ${diff.left_out ? html`<p class="note">${diff.left_out} lines were too many to keep.</p>` : null}
  </details>`;
}

/** @param {{lines: Line[], language: string}} props */
function Unified({ lines, language }) {
  const numbered = lines.some((line) => line.old !== undefined || line.new !== undefined);
  return html`<table class="unified"><tbody>
    ${lines.map(
      (line) => html`<tr class=${classOf(line.mark)}>
        ${numbered && html`<td class="no">${line.old}</td><td class="no">${line.new}</td>`}
        <td class="mark">${line.mark === '@' ? '⋯' : line.mark}</td>
        <td class="code"><${Code} line=${line} language=${language} /></td>
      </tr>`,
    )}
  </tbody></table>`;
}

/** @param {{lines: Line[], language: string}} props */
function Split({ lines, language }) {
  return html`<table class="split"><tbody>
    ${pairs(lines).map(
      ([before, after]) => html`<tr>
        <td class="no">${before?.old}</td>
        <td class=${`code ${before ? classOf(before.mark) : 'none'}`}>${before && html`<${Code} line=${before} language=${language} />`}</td>
        <td class="no">${after?.new}</td>
        <td class=${`code ${after ? classOf(after.mark) : 'none'}`}>${after && html`<${Code} line=${after} language=${language} />`}</td>
      </tr>`,
    )}
  </tbody></table>`;
}

/** Its words coloured by what they are, and marked if they changed. @param {{line: Line, language: string}} props */
function Code({ line, language }) {
  if (!line.text) return html`\u200a`;
  const changed = changedIn(line.words ?? []);
  let at = 0;
  return pieces(line.text, language).flatMap(({ text, kind }) => {
    const parts = cut(text, at, changed).map((part) => {
      const shown = kind ? html`<span class=${`code-${kind}`}>${marked(part.text)}</span>` : marked(part.text);
      return part.within ? html`<mark>${shown}</mark>` : shown;
    });
    at += text.length;
    return parts;
  });
}

/** Where the changed words are. @param {{text: string, changed: boolean}[]} words @returns {[number, number][]} */
function changedIn(words) {
  let at = 0;
  return words.flatMap(({ text, changed }) => {
    const from = at;
    at += text.length;
    return changed ? [/** @type {[number, number]} */ ([from, at])] : [];
  });
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
  const name = (/** @type {string | undefined} */ one) => (one && one !== '/dev/null' ? one.replace(/^[ab]\//, '') : '');
  return readable(patch).filter((file) => file.oldFileName || file.newFileName || file.index).map((file) => {
    const lines = file.hunks.flatMap((/** @type {any} */ hunk) => hunk.lines);
    return {
      path: name(file.newFileName) || name(file.oldFileName) || file.index || '',
      kind: file.isCreate ? 'create' : file.isDelete ? 'delete' : file.isRename ? 'rename' : 'update',
      note: [file.isRename ? `Renamed from ${name(file.oldFileName)}.` : '', file.isBinary ? 'A binary file.' : lines.length || file.isRename ? '' : 'No lines.'].filter(Boolean).join(' '),
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

/** The host cuts a long patch, perhaps in the middle of a file: then without that file. @param {string} patch @returns {any[]} */
function readable(patch) {
  try {
    return library.value.parsePatch(patch);
  } catch {
    const last = patch.lastIndexOf('\ndiff --git ');
    return last < 0 ? [] : library.value.parsePatch(patch.slice(0, last + 1));
  }
}
