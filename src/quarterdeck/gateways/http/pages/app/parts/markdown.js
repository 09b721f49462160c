/**
 * Markdown of a model: parsed without HTML, sanitised, and put in as elements. Nothing in it can run, load or submit.
 *
 * While it is being written only its open end is rendered again: what stands before the last blank line is kept. When it
 * is finished it is rendered as a whole, in steps, and only blocks that look different are replaced.
 */

import { html, signal, useEffect, useLayoutEffect, useRef } from '../lib.js';
import { lastBorder, Replacing } from './markdown_blocks.js';
import { marked, visible } from './text.js';

/** @typedef {typeof import('./markdown_library.js')} Library */

/** The renderer, once something needs it: a first look at the inbox mostly does not. @type {import('../vendor/signals.js').Signal<Library | null>} */
const library = signal(null);
/** @type {Promise<void> | null} */
let loading = null;
const RETRY_MS = 1_000;
/** How long one step may take; a picture has 16 ms. */
const STEP_MS = 8;
/** An open end that took this long is rendered less often. */
const SLOW_MS = 6;

export function loadMarkdown() {
  loading ??= import('./markdown_library.js').then(
    (found) => {
      library.value = found;
    },
    () => {
      loading = null; // the line is broken: until it is back, the text is there as it is
      setTimeout(loadMarkdown, RETRY_MS);
    },
  );
  return loading;
}

/** @param {{text: string, live?: boolean}} props */
export function Markdown({ text, live = false }) {
  useEffect(() => void loadMarkdown(), []);
  if (library.value === null) return html`<div class="markdown unrendered">${marked(text)}</div>`;
  return html`<${Rendered} text=${text} live=${live} library=${library.value} />`;
}

/** @param {{text: string, live: boolean, library: Library}} props */
function Rendered({ text, live, library }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const writing = useRef(/** @type {Writing | null} */ (null));
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    writing.current ??= new Writing(element, library);
    if (live) writing.current.show(text);
    else writing.current.finish(text);
  }, [text, live]);
  useEffect(() => () => writing.current?.stop(), []);
  return html`<div class="markdown" ref=${place} />`;
}

/** A text that grows until it is finished. */
class Writing {
  /** @param {HTMLElement} element @param {Library} library */
  constructor(element, library) {
    this.element = element;
    this.library = library;
    /** @type {HTMLElement | null} What is rendered again each time. */
    this.tail = null;
    this.kept = 0;
    this.text = '';
    this.tookMs = 0;
    this.drawnAt = 0;
    this.timer = 0;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  /** @param {string} text */
  show(text) {
    this.text = text;
    const rests = this.tookMs > SLOW_MS ? 4 * this.tookMs - (performance.now() - this.drawnAt) : 0;
    if (rests <= 0) this.draw();
    else if (!this.timer) this.timer = setTimeout(() => this.draw(), rests);
  }

  draw() {
    this.stop();
    const { text, library } = this;
    const began = performance.now();
    if (this.tail === null) {
      this.kept = 0;
      this.tail = document.createElement('div');
      this.element.replaceChildren(this.tail);
    }
    const border = lastBorder(text, this.kept);
    if (border > this.kept) {
      this.tail.before(library.rendered(text.slice(this.kept, border)));
      this.kept = border;
    }
    const open = text.slice(this.kept);
    const fence = /^\s*(```|~~~)[^\n]*\n/.exec(open);
    if (fence) this.drawCode(this.tail, open.slice(fence[0].length));
    else this.tail.replaceChildren(library.rendered(open));
    this.drawnAt = performance.now();
    this.tookMs = this.drawnAt - began;
  }

  /** A code block that is still open needs no parsing. @param {HTMLElement} tail @param {string} code */
  drawCode(tail, code) {
    let block = tail.querySelector('pre.open code');
    if (!block) {
      const pre = document.createElement('pre');
      pre.className = 'open';
      block = pre.appendChild(document.createElement('code'));
      tail.replaceChildren(pre);
    }
    block.textContent = visible(code);
  }

  /** @param {string} text */
  finish(text) {
    this.stop();
    this.tail?.replaceWith(...this.tail.children);
    this.tail = null;
    const parts = this.library.renderedInParts(text);
    const replacing = new Replacing(this.element);
    const step = () => {
      this.timer = 0;
      const until = performance.now() + STEP_MS;
      while (performance.now() < until) {
        const { value, done } = parts.next();
        if (value) replacing.put(value);
        if (done) return replacing.end();
      }
      this.timer = setTimeout(step);
    };
    step();
  }
}
