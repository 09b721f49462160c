/** What a person chose for this browser: kept across reloads. */

import { effect, signal } from '../lib.js';

/** @template T @param {string} name @param {T} initial */
function kept(name, initial) {
  const key = `quarterdeck.${name}`;
  const value = signal(/** @type {T} */ (read(key) ?? initial));
  effect(() => localStorage.setItem(key, JSON.stringify(value.value)));
  return value;
}

/** @param {string} key */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null; // not ours
  }
}

/** @type {import('../vendor/signals.js').Signal<'system' | 'light' | 'dark'>} */
export const theme = kept('theme', /** @type {'system' | 'light' | 'dark'} */ ('system'));
/** @type {import('../vendor/signals.js').Signal<'unified' | 'split'>} */
export const diffStyle = kept('diff', /** @type {'unified' | 'split'} */ ('unified'));
export const showThinking = kept('thinking', false);
export const notify = kept('notify', false);
/** @type {import('../vendor/signals.js').Signal<string[]>} */
export const recentFolders = kept('folders', /** @type {string[]} */ ([]));

effect(() => {
  const { value } = theme;
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
});
