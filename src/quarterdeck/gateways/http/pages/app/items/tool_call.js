/** A tool call as a card: what it is about in one line; input, live output, result and diff when opened. */

import { html, useState } from '../lib.js';
import { Command } from '../parts/command.js';
import { Diffs } from '../parts/diff.js';
import { count, duration } from '../parts/format.js';
import { marked, visible, withoutColours } from '../parts/text.js';
import { textOf } from '../store/timeline.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../session/context.js').SessionContext} SessionContext
 */

/** @type {Record<string, [string, string]>} Sign and word. */
const STATUSES = {
  writing: ['◌', 'is being written'],
  waiting: ['◔', 'waits for a person'],
  running: ['◌', 'runs'],
  background: ['◌', 'runs in the background'],
  finished: ['●', 'finished'],
  failed: ['✕', 'failed'],
  denied: ['⊘', 'denied'],
  interrupted: ['◍', 'interrupted'],
};
const OPEN = new Set(['writing', 'waiting', 'running', 'background']);
const SHORT_LINES = 12;

/** @param {{item: Item, context: SessionContext, drawChild: (item: Item) => any}} props */
export function ToolCallItem({ item, context, drawChild }) {
  const open = OPEN.has(item.status);
  const [chosen, setChosen] = useState(/** @type {boolean | null} */ (null));
  const asked = item.status === 'waiting'; // what is asked about it stands below, with the same picture
  const shown = chosen ?? (!asked && (item.status === 'failed' || Boolean(item.diffs?.length) || open));
  const [sign, word] = Object.hasOwn(STATUSES, item.status) ? STATUSES[item.status] : ['·', visible(item.status)];
  const children = context.children(item.id);
  const task = item.task_id ? context.task(item.task_id) : undefined;
  return html`<section class=${`call ${item.status}`} data-call=${item.id}>
    <button class="head" aria-expanded=${shown} onClick=${() => setChosen(!shown)}>
      <i class=${`status ${open && !asked ? 'turning' : ''}`} title=${word} aria-label=${word}>${sign}</i>
      <b>${marked(item.label || item.name || 'Tool')}</b>
      <span class="about">${marked(item.about || item.summary || '')}</span>
      <${Stat} item=${item} />
    </button>
    ${shown && html`<div class="inside"><${Inside} item=${item} task=${task} /></div>`}
    ${item.reason && item.status !== 'finished' && !textOf(item.output).startsWith(item.reason) ? html`<p class="problem">${marked(item.reason)}</p>` : null}
    ${item.policy ? html`<p class="dim">Policy: ${visible(item.policy.decision)}. ${marked(item.policy.reason)}</p>` : null}
    ${children.length ? html`<${SubAgent} item=${item} items=${children} task=${task} drawChild=${drawChild} />` : null}
  </section>`;
}

/** @param {{item: Item}} props */
function Stat({ item }) {
  const added = (item.diffs ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + (one.added ?? 0), 0);
  const removed = (item.diffs ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + (one.removed ?? 0), 0);
  return html`<span class="stat">
    ${item.diffs?.length ? html`<span class="added">+${added}</span> <span class="removed">−${removed}</span>` : null}
    ${item.elapsed_s ? html`<span>${duration(item.elapsed_s)}</span>` : null}
  </span>`;
}

/** @param {{item: Item, task?: import('../store/types.js').Task}} props */
function Inside({ item, task }) {
  const input = item.input ?? {};
  const output = textOf(item.output) || textOf(item.live_output) || textOf(task?.output);
  return html`
    ${item.status === 'writing' && item.pieces?.length ? html`<pre class="writing">${marked(item.pieces.join('').slice(-4_000))}</pre>` : null}
    ${typeof input.command === 'string' ? html`<${Command} command=${input.command} />` : null}
    ${item.diffs?.length ? html`<${Diffs} diffs=${item.diffs} />` : null}
    ${typeof input.command !== 'string' && !item.diffs?.length ? html`<${Input} input=${input} />` : null}
    ${output && !(item.diffs?.length && item.status === 'finished') ? html`<${Output} text=${output} live=${!item.output} />` : null}
    ${item.output_images ? html`<p class="dim">${item.output_images} images</p>` : null}
    ${item.output_path ? html`<p class="dim">All of it is in <code>${marked(item.output_path)}</code></p>` : null}`;
}

/** @param {{input: Record<string, any>}} props */
function Input({ input }) {
  const entries = Object.entries(input);
  if (!entries.length) return null;
  return html`<dl class="fields">${entries.map(
    ([name, value]) => html`<div><dt>${marked(name)}</dt><dd>${marked(typeof value === 'string' ? value : JSON.stringify(value))}</dd></div>`,
  )}</dl>`;
}

/** @param {{text: string, live?: boolean}} props */
export function Output({ text, live = false }) {
  const [whole, setWhole] = useState(false);
  const lines = withoutColours(text).split('\n');
  const cut = !whole && lines.length > SHORT_LINES + 4;
  const shown = cut ? (live ? lines.slice(-SHORT_LINES) : lines.slice(0, SHORT_LINES)) : lines;
  return html`<div class="output">
    ${cut && live ? html`<button class="more" onClick=${() => setWhole(true)}>${lines.length - SHORT_LINES} lines before</button>` : null}
    <pre tabindex="0" role="region" aria-label=${live ? 'Output so far' : 'Output'}>${marked(shown.join('\n'))}</pre>
    ${cut && !live ? html`<button class="more" onClick=${() => setWhole(true)}>${lines.length - SHORT_LINES} more lines</button>` : null}
  </div>`;
}

/** @param {{item: Item, items: Item[], task?: import('../store/types.js').Task, drawChild: (item: Item) => any}} props */
function SubAgent({ item, items, task, drawChild }) {
  const used = [task?.tool_uses ? `${task.tool_uses} tools` : '', task?.tokens ? `${count(task.tokens)} tokens` : ''].filter(Boolean).join(', ');
  return html`<details class="sub-agent" open=${OPEN.has(item.status) || undefined}>
    <summary>${marked(item.agent_type || 'Sub-agent')} <span class="dim">${items.length} items${used ? `, ${used}` : ''}${task?.doing ? ` · ${visible(task.doing)}` : ''}</span></summary>
    <div class="children">${items.map((child) => html`<div class="row" key=${child.id} data-inside=${child.id} tabindex="-1">${drawChild(child)}</div>`)}</div>
  </details>`;
}
