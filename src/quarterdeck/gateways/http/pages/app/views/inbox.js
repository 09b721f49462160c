/** Everything that waits for a person, across sessions: what is dangerous or old on top. */

import { ApprovalCard, RiskMark, kindOf } from '../approvals/approval.js';
import { Batch } from '../approvals/batch.js';
import { Before } from '../approvals/before.js';
import { outcome, undo } from '../approvals/deciding.js';
import { deck } from '../deck.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { Time } from '../parts/format.js';
import { useKeys } from '../parts/keys.js';
import { baseName, marked } from '../parts/text.js';
import { go, link } from '../router.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/** @param {{id: string}} props */
export function Inbox({ id }) {
  const { host } = deck();
  const waiting = host.inbox.value;
  const [batch, setBatch] = useState(false);
  const before = useRef('');
  // Without a choice it is the first, and stays the one that was first: what comes later must not slip under a finger.
  const selected = waiting.find((one) => one.id === id) ?? (id ? undefined : (waiting.find((one) => one.id === before.current) ?? waiting[0]));
  before.current = selected?.id ?? '';
  const position = useRef(0);
  // As drawn: an effect may run after the lists have arrived, and would take the empty list it was drawn with for theirs.
  const loaded = host.loaded.value;
  useEffect(() => {
    const index = waiting.findIndex((one) => one.id === id);
    if (index >= 0) position.current = index;
    else if (id && loaded && waiting.length) go('inbox', waiting[Math.min(position.current, waiting.length - 1)].id);
    else if (id && loaded) go('inbox');
  }, [id, waiting, loaded]);
  /** @param {number} step */
  const move = (step) => {
    const index = waiting.findIndex((one) => one.id === selected?.id);
    const next = waiting[Math.max(0, Math.min(waiting.length - 1, index + step))];
    if (next) go('inbox', next.id);
  };
  useKeys('Inbox', [
    { keys: 'j / ArrowDown', does: 'Next', repeats: true, run: () => move(1) },
    { keys: 'k / ArrowUp', does: 'Previous', repeats: true, run: () => move(-1) },
    { keys: 'o', does: 'Open its session', run: () => selected && go('session', selected.session_id) },
    { keys: 'b', does: 'Decide several', run: () => setBatch(waiting.length > 1) },
    { keys: 'u', does: 'Undo the last decision', run: () => host.settled.value[0] && undo(host.settled.value[0]) },
  ]);
  return html`<div class=${`panes ${id ? 'with-detail' : ''}`}>
    <section class="list" aria-label="Waiting">
      <header class="bar"><h1>Inbox</h1><span class="dim">${waiting.length ? `${waiting.length} waiting` : ''}</span><span class="gap" />
        ${waiting.filter((one) => one.kind === 'permission').length > 1 && html`<button class="quiet" onClick=${() => setBatch(true)}>Several… <kbd>b</kbd></button>`}</header>
      <p class="sr" role="status" aria-live="polite">${waiting.length} waiting</p>
      <ul class="rows">${waiting.map((one) => html`<${Row} key=${one.id} approval=${one} selected=${one.id === selected?.id} />`)}</ul>
      ${loaded && !waiting.length && html`<p class="empty">No pending requests.</p>`}
      <${Settled} />
    </section>
    <section class="detail" aria-label="Decision">
      ${selected ? html`<a class="back" href=${link('inbox')}>← Inbox</a><${ApprovalCard} key=${selected.id} approval=${selected} /><${Before} key=${`before ${selected.id}`} approval=${selected} />` : null}
    </section>
    ${batch && html`<${Batch} onClose=${() => setBatch(false)} />`}
  </div>`;
}

/** @param {{approval: Approval, selected: boolean}} props */
function Row({ approval, selected }) {
  const session = deck().host.session(approval);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (selected) place.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return html`<li ref=${place}><a class="item" href=${link('inbox', approval.id)} aria-current=${selected ? 'true' : undefined}>
    <span class="first"><b>${marked(approval.kind === 'permission' ? approval.tool : kindOf(approval))}</b><${RiskMark} risk=${approval.risk} /><span class="gap" /><${Time} at=${approval.asked_at} /></span>
    <span class="what">${marked(subject(approval))}</span>
    <span class="dim">${marked(session?.name || baseName(session?.cwd))}</span>
  </a></li>`;
}

/** What it is about, without the tool's name. @param {Approval} approval */
function subject(approval) {
  const summary = approval.summary ?? '';
  return approval.tool && summary.startsWith(`${approval.tool} `) ? summary.slice(approval.tool.length + 1) : summary;
}

/** What was decided meanwhile, here or elsewhere: it says by whom, and that it cannot be undone. */
function Settled() {
  const { settled } = deck().host;
  if (!settled.value.length) return null;
  return html`<section class="settled" aria-label="Decided"><h2>Decided</h2>
    <ul role="log" aria-live="polite">${settled.value.map((one) => html`<li key=${one.id} data-settled=${one.id}>
      <span class="what">${marked(one.summary || kindOf(one))}</span>
      <span class=${`dim outcome ${one.decision?.decision ?? ''}`}>${marked(outcome(one))}</span>
      ${one.decision && html`<button class="quiet" onClick=${() => undo(one)}>Undo</button>`}
    </li>`)}</ul>
  </section>`;
}
