/** Markdown → elements: parsed without HTML, sanitised. Fetched when there is something to render. */

import MarkdownIt from '../vendor/markdown-it.js';
import '../vendor/purify.js';
import { pieces } from './code.js';
import { lastBorder } from './markdown_blocks.js';
import { visible } from './text.js';

const { DOMPurify } = /** @type {any} */ (globalThis);
const TAGS = 'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup table tbody td th thead tr ul'.split(' ');
const ATTRIBUTES = ['href', 'title', 'target', 'rel', 'class', 'start', 'align', 'data-host'];
const CLEAN = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i, // links lead out; none leads to a place of this page
  ADD_URI_SAFE_ATTR: ATTRIBUTES.filter((name) => name !== 'href'),
  RETURN_DOM_FRAGMENT: true,
};

/** A block that is still open is drawn without it (`markdown.js`): only finished code is coloured. @type {(code: string, language: string) => string} */
const highlight = (code, language) => pieces(code, language).map(({ text, kind }) => (kind ? `<span class="code-${kind}">${escape(text)}</span>` : escape(text))).join('');

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, highlight });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** Entities and encoded addresses have become characters by now, which may be invisible ones. */
markdown.renderer.rules.text = (/** @type {any[]} */ tokens, /** @type {number} */ at) => escape(visible(tokens[at].content));
/** Where a link leads stands beside it, unless its text is exactly that address. */
markdown.renderer.rules.link_open = (/** @type {any[]} */ tokens, /** @type {number} */ at) => {
  const href = tokens[at].attrGet('href') ?? '';
  const said = tokens[at + 2]?.type === 'link_close' ? tokens[at + 1].content : '';
  const host = hostOf(href);
  const shown = host && !(hostOf(said) === host && /^https?:\/\/([^/?#@]*)/i.exec(said)?.[1] === host) ? ` data-host="${escape(host)}"` : '';
  return `<a href="${escape(href)}" title="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow"${shown}>`;
};
/** An image would be a request to whoever the text names: it is a link instead. */
markdown.renderer.rules.image = (/** @type {any[]} */ tokens, /** @type {number} */ at) => {
  const source = tokens[at].attrGet('src') ?? '';
  const name = escape(tokens[at].content || 'image');
  if (!/^https?:/i.test(source)) return `<span class="image">${name} (image)</span>`;
  return `<a class="image" href="${escape(source)}" title="${escape(source)}" target="_blank" rel="noopener noreferrer nofollow" data-host="${escape(hostOf(source))}">${name} (image, not loaded)</a>`;
};

/** @type {(text: string) => string} */
const escape = (text) => markdown.utils.escapeHtml(text);

/** @param {string} href */
function hostOf(href) {
  try {
    return new URL(href).host;
  } catch {
    return '';
  }
}

/** Small enough to be parsed in one go. */
const SECTION = 64_000;
/** Blocks are cleaned in groups of about this size. */
const GROUP = 4_000;

/** @param {string} text @returns {DocumentFragment} */
export function rendered(text) {
  return DOMPurify.sanitize(markdown.render(visible(text)), CLEAN);
}

/** The same, a few blocks at a time, so that a long text can be drawn in several steps. @param {string} text @returns {Generator<DocumentFragment>} */
export function* renderedInParts(text) {
  for (const section of sections(visible(text))) {
    const env = {};
    const tokens = markdown.parse(section, env);
    let from = 0;
    let source = '';
    for (let at = 0; at < tokens.length; at += 1) {
      if (tokens[at].level !== 0 || tokens[at].nesting > 0) continue; // in the middle of a block
      source += markdown.renderer.render(tokens.slice(from, at + 1), markdown.options, env);
      from = at + 1;
      if (source.length < GROUP && from < tokens.length) continue;
      yield DOMPurify.sanitize(source, CLEAN);
      source = '';
    }
  }
}

/** Nearly always one; a book is cut where a block ends. @param {string} text @returns {Generator<string>} */
function* sections(text) {
  let from = 0;
  while (text.length - from > SECTION) {
    const border = lastBorder(text.slice(from, from + SECTION), 0) || SECTION;
    yield text.slice(from, from + border);
    from += border;
  }
  yield text.slice(from);
}
