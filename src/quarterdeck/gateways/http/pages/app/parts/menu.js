/** What else can be done, behind three dots: arrows move in it, a choice, Escape or leaving it closes it. */

import { html, useRef } from '../lib.js';

/** @param {{label?: string, children?: any}} props */
export function Menu({ label = 'More', children }) {
  const place = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const close = () => {
    if (place.current) place.current.open = false;
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    const menu = place.current;
    if (!menu?.open || !['Escape', 'ArrowDown', 'ArrowUp'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const summary = menu.querySelector('summary');
    if (event.key === 'Escape') {
      close();
      summary?.focus();
      return;
    }
    const items = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('[role=menuitem]:not(:disabled)')]);
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = event.key === 'ArrowDown' ? 1 : -1;
    items.at((at < 0 && step < 0 ? -1 : at + step) % items.length)?.focus();
  };
  /** @param {FocusEvent} event */
  const left = (event) => {
    if (!place.current?.contains(/** @type {Node | null} */ (event.relatedTarget)) && event.relatedTarget) close();
  };
  return html`<details class="menu" ref=${place} onKeyDown=${pressed} onFocusOut=${left}>
    <summary aria-label=${label}>⋯</summary><div role="menu" onClick=${close}>${children}</div>
  </details>`;
}
