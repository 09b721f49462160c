/** A shell command with its words told apart, and the parts marked that the policy calls risky. */

import { html } from '../lib.js';
import { marked } from './text.js';

const TOKEN = /(#[^\n]*)|('[^']*'?|"(?:\\.|[^"\\])*"?)|(\$\{?[\w@*#?!-]+\}?|\$\(|`)|(&&|\|\||[|;&<>()]+)|(^|(?<=[|;&(\n]\s*))([\w./~+-]+)|((?<=\s)--?[\w][\w-]*)|(\s+|[^\s'"$|;&<>()`#]+|.)/gs;
/** A longer one is shown as it is: words of their own would be too many elements. */
const LONGEST = 20_000;
const CLASSES = ['comment', 'string', 'variable', 'operator', '', 'program', 'flag'];

/** @param {string} command @returns {{text: string, kind: string}[]} */
export function tokens(command) {
  if (command.length > LONGEST) return [{ text: command, kind: '' }];
  return [...command.matchAll(TOKEN)].map((found) => {
    const group = found.slice(1).findIndex((one, index) => one && index !== 4);
    return { text: found[0], kind: CLASSES[group] ?? '' };
  });
}

/**
 * @param {{command: string, risky?: [number, number][]}} props `risky`: begin and end in characters, as Python counts them.
 */
export function Command({ command, risky = [] }) {
  const spans = inUnits(command, risky);
  /** @type {any[]} */
  const shown = [];
  let at = 0;
  for (const { text, kind } of tokens(command)) {
    for (const piece of cut(text, at, spans)) {
      shown.push(html`<span class=${`${kind ? `sh-${kind}` : ''}${piece.within ? ' risky' : ''}`}>${marked(piece.text)}</span>`);
    }
    at += text.length;
  }
  return html`<pre class="command"><code>${shown}</code></pre>`;
}

/** Python counts characters, JavaScript pairs of them. @param {string} text @param {[number, number][]} spans */
function inUnits(text, spans) {
  if (!spans.length) return spans;
  /** @type {number[]} */
  const starts = [];
  let at = 0;
  for (const char of text) {
    starts.push(at);
    at += char.length;
  }
  starts.push(at);
  return spans.map(([begin, end]) => [starts[begin] ?? at, starts[end] ?? at]);
}

/** A piece of text at a place, cut where the spans begin and end. @param {string} text @param {number} at @param {number[][]} spans */
export function cut(text, at, spans) {
  /** @type {{text: string, within: boolean}[]} */
  const pieces = [];
  let done = 0;
  for (const [begin, end] of spans) {
    const from = Math.max(begin - at, done);
    const to = Math.min(end - at, text.length);
    if (from >= to) continue;
    if (from > done) pieces.push({ text: text.slice(done, from), within: false });
    pieces.push({ text: text.slice(from, to), within: true });
    done = to;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), within: false });
  return pieces;
}
