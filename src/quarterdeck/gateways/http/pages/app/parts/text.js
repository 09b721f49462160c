/**
 * Text that others wrote: shown as what it is. Characters that cannot be seen, or that turn the direction of what
 * follows, become their code, so that a name or a command cannot look like another one.
 */

import { html } from '../lib.js';

const ODD =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|(?<!\p{Extended_Pictographic}\ufe0f?|[\u{1f3fb}-\u{1f3ff}])\u200d|[\u{e0000}-\u{e0fff}]/gu;
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** @param {string} char */
const code = (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** What should have been a text may be anything. @param {unknown} value */
function plain(value) {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value ?? '').replaceAll('\r\n', '\n');
}

/** For titles, labels, and what a renderer takes. @param {unknown} text @returns {string} */
export function visible(text) {
  return plain(text).replace(ODD, code);
}

/** Of a tool's output: without the colours of a terminal. @param {string} text */
export const withoutColours = (text) => text.replace(COLOURS, '');

/** With the odd characters marked. @param {unknown} text @returns {any} */
export function marked(text) {
  const whole = plain(text);
  if (whole.search(ODD) < 0) return whole;
  /** @type {any[]} */
  const parts = [];
  let end = 0;
  for (const found of whole.matchAll(ODD)) {
    parts.push(whole.slice(end, found.index), html`<span class="odd" title="Invisible character">${code(found[0])}</span>`);
    end = found.index + found[0].length;
  }
  return [...parts, whole.slice(end)];
}

/** The last part of a path, for where there is little room. @param {string | undefined} path */
export const baseName = (path) => (path ?? '').replace(/\/+$/, '').split('/').at(-1) || (path ?? '');
