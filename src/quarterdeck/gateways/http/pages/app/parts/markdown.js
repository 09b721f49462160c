/**
 * Markdown of a model: parsed without HTML, sanitised, and put in as elements. Nothing in it can run, load or submit.
 *
 * While it is being written only its open end is rendered again: what stands before the last blank line is kept.
 */

import { html, useLayoutEffect, useRef } from '../lib.js';
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

/** @param {{text: string, live?: boolean}} props */
export function Markdown({ text, live = false }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const writing = useRef(/** @type {Writing | null} */ (null));
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    if (live) {
      writing.current ??= new Writing(element);
      writing.current.show(text);
    } else {
      writing.current = null;
      element.replaceChildren(rendered(text));
    }
  }, [text, live]);
  return html`<div class="markdown" ref=${place} />`;
}

/** A text that grows. */
class Writing {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.tail = document.createElement('div');
    element.replaceChildren(this.tail);
    this.kept = 0;
  }

  /** @param {string} text */
  show(text) {
    const border = lastBorder(text, this.kept);
    if (border > this.kept) {
      this.tail.before(rendered(text.slice(this.kept, border)));
      this.kept = border;
    }
    const open = text.slice(this.kept);
    const fence = /^\s*(```|~~~)[^\n]*\n/.exec(open);
    if (fence) this.showCode(open.slice(fence[0].length));
    else this.tail.replaceChildren(rendered(open));
  }

  /** A code block that is still open needs no parsing. @param {string} code */
  showCode(code) {
    let block = this.tail.querySelector('pre.open code');
    if (!block) {
      const pre = document.createElement('pre');
      pre.className = 'open';
      block = pre.appendChild(document.createElement('code'));
      this.tail.replaceChildren(pre);
    }
    block.textContent = visible(code);
  }
}

/** The end of the last block that is complete: a blank line outside of code. @param {string} text @param {number} from */
export function lastBorder(text, from) {
  let border = from;
  let fence = '';
  let at = from;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const line = text.slice(at, end).trim();
    const mark = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence && mark.startsWith(fence) && line === mark) fence = '';
    else if (!fence && mark) fence = mark;
    else if (!fence && !line) border = end + 1;
    at = end + 1;
    if (!fence && mark && line === mark) border = at;
  }
  return border;
}
