/** Keys: one table of what is listened to now, which is also the sheet that `?` shows. */

import { html, signal, useLayoutEffect } from '../lib.js';
import { Dialog } from './dialog.js';

/** `repeats`: also while the key is held. Without `run` the element with the focus does it, and the sheet tells of it. @typedef {{keys: string, does: string, run?: (event: KeyboardEvent) => void, always?: boolean, repeats?: boolean}} Shortcut */

/** @type {Map<string, Shortcut[]>} Section → shortcuts. */
const sections = new Map();
export const sheetOpen = signal(false);

/** While the component is there; with none it leaves the section to others. @param {string} section @param {Shortcut[]} shortcuts */
export function useKeys(section, shortcuts) {
  // With what is drawn, not a moment later: a key may be pressed at once.
  useLayoutEffect(() => {
    if (!shortcuts.length) return undefined;
    sections.set(section, shortcuts);
    return () => {
      if (sections.get(section) === shortcuts) sections.delete(section);
    };
  });
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const key = event.key === ' ' ? 'Space' : event.key;
  const ctrl = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  const alt = event.altKey ? 'Alt+' : '';
  return `${ctrl}${alt}${event.shiftKey && key.length > 1 ? 'Shift+' : ''}${key}`;
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** @param {EventTarget | null} target */
const isControl = (target) => target instanceof HTMLElement && target.closest('a, button, summary') !== null;

let prefix = '';

/** @param {KeyboardEvent} event */
function listen(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const key = pressed(event);
  if ((key === 'Enter' || key === 'Space') && isControl(event.target)) return; // it does what it does
  const typing = isTyping(event.target) || document.querySelector('dialog[open]') !== null;
  const wanted = prefix ? `${prefix} ${key}` : key;
  prefix = '';
  for (const shortcuts of [...sections.values()].toReversed()) {
    const found = shortcuts.find((one) => one.run && one.keys.split(' / ').includes(wanted) && (one.always || !typing));
    if (found) {
      event.preventDefault();
      if (!event.repeat || found.repeats) found.run?.(event);
      return;
    }
  }
  if (!typing && key === 'g') prefix = 'g';
}

export function listenToKeys() {
  document.addEventListener('keydown', listen);
}

export function KeySheet() {
  if (!sheetOpen.value) return null;
  return html`<${Dialog} title="Keys" onClose=${() => (sheetOpen.value = false)}>
    <div class="key-sheet">
      ${[...sections].map(
        ([name, shortcuts]) => html`<section><h3>${name}</h3><dl>
          ${shortcuts.map((one) => html`<div><dt>${one.keys.split(' / ').map((key, index) => html`${index ? ' or ' : ''}<kbd>${key}</kbd>`)}</dt><dd>${one.does}</dd></div>`)}
        </dl></section>`,
      )}
    </div>
  <//>`;
}
