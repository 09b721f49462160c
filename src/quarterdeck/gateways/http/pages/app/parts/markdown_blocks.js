/** Where blocks of Markdown end, and how a text on the screen becomes another one block by block. */

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

const LOOKS_AHEAD = 8;

/**
 * Blocks that take the place of those in an element, in order; those that are the same stay, with their layout and what
 * somebody has selected in them.
 */
export class Replacing {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.next = element.firstElementChild;
  }

  /** @param {DocumentFragment} blocks */
  put(blocks) {
    for (const block of [...blocks.children]) {
      const same = this.find(block);
      if (same === null) {
        this.element.insertBefore(block, this.next);
        continue;
      }
      while (this.next !== same) this.drop();
      this.next = same.nextElementSibling;
    }
  }

  /** What is left belonged to the text before. */
  end() {
    while (this.next !== null) this.drop();
  }

  /** @param {Element} block */
  find(block) {
    let found = this.next;
    for (let looked = 0; found !== null && looked < LOOKS_AHEAD; looked += 1, found = found.nextElementSibling) {
      if (found.isEqualNode(block)) return found;
    }
    return null;
  }

  drop() {
    const gone = /** @type {Element} */ (this.next);
    this.next = gone.nextElementSibling;
    gone.remove();
  }
}
