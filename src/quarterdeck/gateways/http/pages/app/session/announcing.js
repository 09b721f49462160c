/** For who listens: that an answer is finished, and that something waits. Not the text as it comes. */

import { kindOf } from '../approvals/approval.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { visible } from '../parts/text.js';
import { saidSoFar } from '../store/timeline.js';

const LONGEST = 300;

/** @param {{items: import('../store/types.js').Item[], live: boolean, approvals: import('../store/types.js').Approval[]}} props */
export function Announced({ items, live, approvals }) {
  const [told, setTold] = useState('');
  /** @type {{current: {ended: string, known: Set<string>} | null}} What was there when we came is no news. */
  const before = useRef(null);
  const turn = items.findLast((item) => item.type === 'turn'); // a short one is never seen to run
  const ended = turn?.id ?? '';
  const ids = approvals.map(({ id }) => id).join();
  useEffect(() => {
    const known = before.current;
    before.current = live ? { ended, known: new Set(approvals.map(({ id }) => id)) } : null;
    if (known === null) return;
    const asked = approvals.filter(({ id }) => !known.known.has(id));
    if (asked.length) setTold(asked.map((one) => `Waits for you: ${kindOf(one)}, ${one.summary || one.tool || ''}`).join('. '));
    else if (turn && known.ended !== ended) {
      const last = items.findLast((item) => item.type === 'text' && item.done);
      setTold(`Turn ${turn.number} has ended. ${last ? saidSoFar(last).slice(0, LONGEST) : ''}`);
    }
  }, [ended, live, ids]);
  return html`<p class="sr announced" role="status" aria-live="polite">${visible(told)}</p>`;
}
