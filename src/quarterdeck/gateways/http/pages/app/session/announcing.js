/** For who listens: that an answer is finished, and that something waits. Not the text as it comes. */

import { kindOf } from '../approvals/approval.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { visible } from '../parts/text.js';
import { saidSoFar } from '../store/timeline.js';

const LONGEST = 300;

/** @param {{items: import('../store/types.js').Item[], turn: number, busy: boolean, approvals: import('../store/types.js').Approval[]}} props */
export function Announced({ items, turn, busy, approvals }) {
  const [told, setTold] = useState('');
  /** @type {{current: {turn: number, busy: boolean, known: Set<string>} | null}} What was there when we came is no news. */
  const before = useRef(null);
  const ids = approvals.map(({ id }) => id).join();
  useEffect(() => {
    const known = before.current;
    before.current = { turn, busy, known: new Set(approvals.map(({ id }) => id)) };
    if (known === null) return;
    const asked = approvals.filter(({ id }) => !known.known.has(id));
    if (asked.length) setTold(asked.map((one) => `Waits for you: ${kindOf(one)}, ${one.summary || one.tool || ''}`).join('. '));
    else if (known.busy && !busy) {
      const last = items.findLast((item) => item.type === 'text' && item.done);
      setTold(`Turn ${turn} has ended. ${last ? saidSoFar(last).slice(0, LONGEST) : ''}`);
    }
  }, [turn, busy, ids]);
  return html`<p class="sr announced" role="status" aria-live="polite">${visible(told)}</p>`;
}
