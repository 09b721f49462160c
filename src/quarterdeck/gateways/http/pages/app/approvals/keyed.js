/**
 * Whose keys they are: of all requests on the screen one has them, and only that one shows them. It is the one with the
 * focus, otherwise the oldest that can be seen, and it keeps them whatever comes later.
 */

import { signal, useEffect, useLayoutEffect } from '../lib.js';
import { useKeys } from '../parts/keys.js';
import { place } from '../router.js';
import { LOOK_MS } from './deciding.js';

/**
 * @typedef {import('../store/types.js').Approval} Approval
 * @typedef {import('../parts/keys.js').Shortcut} Shortcut
 */

/** @type {Map<string, Approval>} On the screen, or near it. */
const cards = new Map();
/** The id of the one that has the keys. */
export const keyed = signal('');
/** Whether they count already: they may have just come from another one, for which a second press was meant. */
const counts = signal(true);
let timer = 0;
let given = place.peek();

/** @param {string} id */
const cardOf = (id) => document.querySelector(`[data-approval="${CSS.escape(id)}"]`);

/** Drawn, not folded away, and not scrolled out. @param {string} id */
function inSight(id) {
  const card = cardOf(id);
  if (!card?.checkVisibility()) return false;
  const { top, bottom } = card.getBoundingClientRect();
  const around = card.closest('.scroller')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return bottom > around.top && top < around.bottom;
}

function choose() {
  if (!cards.size && !keyed.peek()) return;
  const seen = [...cards.values()].filter(({ id }) => inSight(id)).sort((one, other) => one.asked_at.localeCompare(other.asked_at) || one.id.localeCompare(other.id));
  const focused = seen.find(({ id }) => cardOf(id)?.contains(document.activeElement));
  const next = focused ?? seen.find(({ id }) => id === keyed.peek()) ?? seen[0];
  if ((next?.id ?? '') !== keyed.peek()) give(next?.id ?? '', focused !== undefined);
}

/** @param {string} id @param {boolean} byHand */
function give(id, byHand) {
  const meant = byHand || given !== place.peek(); // who goes somewhere else looks at it
  if (meant || keyed.peek()) {
    clearTimeout(timer);
    counts.value = meant;
    if (!meant) timer = setTimeout(() => (counts.value = true), LOOK_MS);
  }
  given = place.peek();
  keyed.value = id;
}

const sight = new IntersectionObserver(choose);
document.addEventListener('focusin', choose);

/** Keys of a card, while they are its own: then it is true. @param {string} section @param {Approval} approval @param {boolean} ready @param {Shortcut[]} shortcuts */
export function useCardKeys(section, approval, ready, shortcuts) {
  const { id } = approval;
  const own = ready && keyed.value === id && counts.value;
  useLayoutEffect(() => {
    cards.set(id, approval);
    queueMicrotask(choose); // once all that are drawn together are there
    return () => {
      cards.delete(id);
      queueMicrotask(choose);
    };
  }, [id]);
  useEffect(() => {
    const card = cardOf(id);
    if (!card) return undefined;
    sight.observe(card);
    return () => sight.unobserve(card);
  }, [id]);
  useKeys(section, own ? shortcuts.map((one) => ({ ...one, run: (event) => (inSight(id) ? one.run?.(event) : choose()) })) : []);
  return own;
}
