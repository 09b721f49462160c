/** A window over the page: the browser's own `dialog`, which keeps the focus inside and closes with Escape. */

import { html, useEffect, useRef } from '../lib.js';

/** @param {{title: string, onClose: () => void, children?: any, wide?: boolean}} props */
export function Dialog({ title, onClose, children, wide = false }) {
  const place = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    place.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  /** @param {MouseEvent} event */
  const clicked = (event) => event.target === place.current && onClose();
  /** @param {Event} event */
  const cancelled = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog class=${wide ? 'wide' : ''} ref=${place} aria-label=${title} onClick=${clicked} onCancel=${cancelled}>
    <header><h2>${title}</h2><button class="quiet" aria-label="Close" onClick=${onClose}>✕</button></header>
    <div class="body">${children}</div>
  </dialog>`;
}
