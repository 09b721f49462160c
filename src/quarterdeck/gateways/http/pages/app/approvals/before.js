/** What led to a request: what the session was told last, and what it has said since. Whoever decides need not go there. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Markdown } from '../parts/markdown.js';
import { marked } from '../parts/text.js';
import { link } from '../router.js';

/** As many rows of the log are looked at. */
const ROWS = 60;
const LONGEST = 1_500;

/** @param {{approval: import('../store/types.js').Approval}} props */
export function Before({ approval }) {
  const session = deck().host.session(approval);
  const [told, setTold] = useState(/** @type {{prompt?: string, said?: string}} */ ({}));
  useEffect(() => {
    let wanted = true;
    if (!session) return undefined;
    const after = `${session.epoch}-${Math.max(0, session.seq - ROWS)}`;
    // The decision is possible without it.
    deck().call('read_events', { session_id: session.id, after, limit: ROWS }).then(({ frames = [] }) => wanted && setTold(lastOf(frames)), () => {});
    return () => {
      wanted = false;
    };
  }, [approval.id, Boolean(session)]);
  if (!told.prompt && !told.said) return null;
  return html`<section class="before" aria-label="Before this">
    <h3>Before this <a href=${link('session', approval.session_id)}>Open the session <kbd>o</kbd></a></h3>
    ${told.prompt ? html`<p class="asked-for">${marked(told.prompt.slice(0, LONGEST))}</p>` : null}
    ${told.said ? html`<${Markdown} text=${told.said.slice(0, LONGEST)} />` : null}
  </section>`;
}

/** The last prompt, and the last text after it; not those of sub-agents. @param {import('../store/types.js').Frame[]} frames */
function lastOf(frames) {
  /** @type {{prompt?: string, said?: string}} */
  const told = {};
  for (const event of frames.flatMap(({ events }) => events)) {
    if (event.parent_id) continue;
    if (event.type === 'prompt_sent') Object.assign(told, { prompt: event.text, said: undefined });
    else if (event.type === 'text_completed' && event.text) told.said = event.text;
  }
  return told;
}
