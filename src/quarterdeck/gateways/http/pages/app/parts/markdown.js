/**
 * Markdown of a model: parsed without HTML, sanitised, and put in as elements. Nothing in it can run, load or submit.
 *
 * While it is being written only its open end is rendered again: what stands before the last blank line is kept.
 */

import { html, signal, useEffect, useLayoutEffect, useRef } from '../lib.js';
import { marked, visible } from './text.js';

/** The renderer, once something needs it: a first look at the inbox mostly does not. @type {import('../vendor/signals.js').Signal<((text: string) => DocumentFragment) | null>} */
const renderer = signal(null);
/** @type {Promise<void> | null} */
let loading = null;
const RETRY_MS = 1_000;

export function loadMarkdown() {
  loading ??= import('./markdown_library.js').then(
    ({ rendered }) => {
      renderer.value = rendered;
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
  if (renderer.value === null) return html`<div class="markdown unrendered">${marked(text)}</div>`;
  return html`<${Rendered} text=${text} live=${live} render=${renderer.value} />`;
}

/** @param {{text: string, live: boolean, render: (text: string) => DocumentFragment}} props */
function Rendered({ text, live, render }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const writing = useRef(/** @type {Writing | null} */ (null));
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    if (live) {
      writing.current ??= new Writing(element, render);
      writing.current.show(text);
    } else {
      writing.current = null;
      element.replaceChildren(render(text));
    }
  }, [text, live]);
  return html`<div class="markdown" ref=${place} />`;
}

/** A text that grows. */
class Writing {
  /** @param {HTMLElement} element @param {(text: string) => DocumentFragment} render */
  constructor(element, render) {
    this.render = render;
    this.tail = document.createElement('div');
    element.replaceChildren(this.tail);
    this.kept = 0;
  }

  /** @param {string} text */
  show(text) {
    const border = lastBorder(text, this.kept);
    if (border > this.kept) {
      this.tail.before(this.render(text.slice(this.kept, border)));
      this.kept = border;
    }
    const open = text.slice(this.kept);
    const fence = /^\s*(```|~~~)[^\n]*\n/.exec(open);
    if (fence) this.showCode(open.slice(fence[0].length));
    else this.tail.replaceChildren(this.render(open));
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
