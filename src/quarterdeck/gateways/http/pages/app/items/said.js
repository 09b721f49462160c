/** What is said: prompts, the model's text as Markdown while it is written, its thinking folded. */

import { html } from '../lib.js';
import { duration } from '../parts/format.js';
import { Markdown } from '../parts/markdown.js';
import { showThinking } from '../parts/preferences.js';
import { marked } from '../parts/text.js';
import { saidSoFar, textOf } from '../store/timeline.js';

/** @typedef {import('../store/types.js').Item} Item */

/** @type {Record<string, string>} */
const SOURCES = { us: '', agent: 'to the sub-agent', 'task-notification': 'a task ended', cli: 'by Claude Code' };

/** @param {{item: Item, actions?: any}} props */
export function PromptItem({ item, actions }) {
  const source = Object.hasOwn(SOURCES, item.source) ? SOURCES[item.source] : item.source;
  const media = item.attachments ?? [];
  return html`<div class=${`prompt ${item.source === 'us' ? 'ours' : 'other'}`}>
    ${source ? html`<span class="dim">${marked(source)}</span>` : null}
    <div class="text">${marked(textOf(item.text))}</div>
    ${media.length ? html`<p class="dim">${media.length} attached: ${marked(media.join(', '))}</p>` : null}
    ${item.status === 'queued' || item.status === 'cancelled' ? html`<span class="tag">${item.status}</span>` : null}
    ${actions}
  </div>`;
}

/** @param {{item: Item, actions?: any}} props */
export function TextItem({ item, actions }) {
  const classes = `text-item${item.retracted ? ' retracted' : ''}${item.error ? ' failed' : ''}${item.done ? '' : ' writing'}`;
  return html`<div class=${classes}>
    ${item.joined_late ? html`<span class="dim">…</span>` : null}
    <${Markdown} text=${saidSoFar(item)} live=${!item.done} />
    ${item.stopped ? html`<span class="tag">stopped here</span>` : null}
    ${item.retracted ? html`<span class="tag">withdrawn</span>` : null}
    ${actions}
  </div>`;
}

/** @param {{item: Item}} props */
export function ThinkingItem({ item }) {
  const text = saidSoFar(item);
  const took = item.duration_s ? ` for ${duration(item.duration_s)}` : '';
  const title = item.done ? `Thought${took}` : 'Thinking…';
  if (item.hidden || !text) return html`<p class="thinking dim">${title}${item.hidden ? ' (not shown by the API)' : ''}</p>`;
  return html`<details class="thinking" open=${showThinking.value || undefined}>
    <summary>${title} <span class="dim">${marked(text.slice(0, 160))}</span></summary>
    <div class="text">${marked(text)}</div>
  </details>`;
}
