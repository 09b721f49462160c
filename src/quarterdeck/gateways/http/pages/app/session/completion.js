/** Slash commands and files, offered while they are typed. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { marked } from '../parts/text.js';

/**
 * @typedef {{insert: string, title: string, about: string}} Choice
 * @typedef {{session: import('../store/types.js').Session, info: Record<string, any> | null, text: string,
 *   write: (text: string) => void, place: {current: HTMLTextAreaElement | null}}} Given
 */

const SHOWN = 8;

/** @param {Given} given */
export function useCompletion({ session, info, text, write, place }) {
  const [offered, setOffered] = useState(/** @type {{word: string, choices: Choice[]}} */ ({ word: '', choices: [] }));
  const [at, setAt] = useState(0);
  const cursor = place.current?.selectionStart ?? text.length;
  const word = /(?:^|\s)([/@][^\s]*)$/.exec(text.slice(0, cursor))?.[1] ?? '';
  // What was offered for another word no longer counts: Enter sends what is typed.
  const choices = word && offered.word === word ? offered.choices : [];
  /** @param {Choice[]} found */
  const setChoices = (found) => setOffered({ word, choices: found });
  useEffect(() => {
    let wanted = true;
    setAt(0);
    if (word.startsWith('/') && text.startsWith('/')) setChoices(commands(info, word.slice(1)));
    else if (word.startsWith('@')) {
      const asking = deck().call('list_files', { session_id: session.id, q: word.slice(1) });
      asking.then(({ paths }) => wanted && setChoices(paths.slice(0, SHOWN).map((/** @type {string} */ path) => ({ insert: `@${path}`, title: path, about: '' })))).catch(() => wanted && setChoices([]));
    } else setChoices([]);
    return () => {
      wanted = false;
    };
  }, [word, info]);
  /** @param {Choice} choice */
  const take = (choice) => {
    const before = text.slice(0, cursor - word.length);
    write(`${before}${choice.insert} ${text.slice(cursor)}`);
    setChoices([]);
    place.current?.focus();
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (!choices.length) return false;
    if (event.key === 'ArrowDown') setAt((at + 1) % choices.length);
    else if (event.key === 'ArrowUp') setAt((at + choices.length - 1) % choices.length);
    else if (event.key === 'Tab' || (event.key === 'Enter' && choices[at].insert !== word)) take(choices[at]);
    else if (event.key === 'Escape') setChoices([]);
    else return false;
    event.preventDefault();
    return true;
  };
  return { choices, at, take, pressed };
}

/** @param {Record<string, any> | null} info @param {string} typed @returns {Choice[]} */
function commands(info, typed) {
  /** @type {{name: string, description?: string, argument_hint?: string}[]} */
  const known = info?.commands ?? [];
  const begins = known.filter((one) => one.name.startsWith(typed));
  const within = known.filter((one) => !one.name.startsWith(typed) && one.name.includes(typed));
  return [...begins, ...within].slice(0, SHOWN).map((one) => ({ insert: `/${one.name}`, title: `/${one.name} ${one.argument_hint ?? ''}`, about: one.description ?? '' }));
}

/** @param {{choices: Choice[], at: number, take: (choice: Choice) => void}} props */
export function Completion({ choices, at, take }) {
  if (!choices.length) return null;
  return html`<ul class="completion" id="completion" role="listbox">${choices.map(
    (choice, index) => html`<li role="option" id=${`completion-${index}`} aria-selected=${index === at} key=${choice.title} onMouseDown=${(/** @type {Event} */ event) => {
      event.preventDefault();
      take(choice);
    }}><b>${marked(choice.title)}</b> <span class="dim">${marked(choice.about)}</span></li>`,
  )}</ul>`;
}
