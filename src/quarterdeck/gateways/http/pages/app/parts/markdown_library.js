/** Markdown → elements: parsed without HTML, sanitised. Fetched when there is something to render. */

import MarkdownIt from '../vendor/markdown-it.js';
import '../vendor/purify.js';
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

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** Where a link leads stands beside it, unless its text says so. */
markdown.renderer.rules.link_open = (/** @type {any[]} */ tokens, /** @type {number} */ at) => {
  const href = tokens[at].attrGet('href') ?? '';
  const said = tokens[at + 1]?.content ?? '';
  const host = hostOf(href);
  const shown = host && !said.includes(host) ? ` data-host="${escape(host)}"` : '';
  return `<a href="${escape(href)}" title="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow"${shown}>`;
};
/** An image would be a request to whoever the text names: it is a link instead. */
markdown.renderer.rules.image = (/** @type {any[]} */ tokens, /** @type {number} */ at) => {
  const source = tokens[at].attrGet('src') ?? '';
  const name = escape(tokens[at].content || 'image');
  if (!/^https?:/i.test(source)) return `<span class="image">${name} (image)</span>`;
  return `<a class="image" href="${escape(source)}" title="${escape(source)}" target="_blank" rel="noopener noreferrer nofollow" data-host="${escape(hostOf(source))}">${name} (image, not loaded)</a>`;
};

/** @param {string} text */
const escape = (text) => markdown.utils.escapeHtml(text);

/** @param {string} href */
function hostOf(href) {
  try {
    return new URL(href).host;
  } catch {
    return '';
  }
}

/** @param {string} text @returns {DocumentFragment} */
export function rendered(text) {
  return DOMPurify.sanitize(markdown.render(visible(text)), CLEAN);
}
