/** One session: the conversation as it goes, what can be said to it, and what it is about. */

import { deck } from '../deck.js';
import { ItemView, isShown } from '../items/item.js';
import { html, useEffect, useMemo, useRef, useState } from '../lib.js';
import { useKeys } from '../parts/keys.js';
import { VirtualList } from '../parts/virtual.js';
import { Composer } from '../session/composer.js';
import { SessionContext } from '../session/context.js';
import { Find } from '../session/find.js';
import { SessionHeader } from '../session/header.js';
import { useLinkedRow } from '../session/linked_row.js';
import { useLiveOutput } from '../session/live_output.js';
import { About, Changes, PlanAndTasks, Turns } from '../session/panels.js';
import { Announced } from '../session/announcing.js';
import { actionsOf } from '../session/prompt_actions.js';
import { Time, duration, now } from '../parts/format.js';
import { marked } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';

/** @param {{id: string}} props */
export function SessionView({ id }) {
  const { host, connection } = deck();
  const store = deck().session(id);
  const fetched = useFetched(id);
  const session = host.sessions.value.get(id) ?? fetched;
  const info = useInfo(id, store.timeline.turn);
  const [panel, setPanel] = useState('');
  const [finding, setFinding] = useState(false);
  const list = useRef(/** @type {VirtualList | null} */ (null));
  useKeys('Session', [
    { keys: 'f', does: 'Find in the session', run: () => setFinding(true) },
    { keys: 'Ctrl+f', does: 'Find in the session', always: true, run: () => setFinding(true) },
    { keys: 't', does: 'Turns', run: () => setPanel(panel === 'turns' ? '' : 'turns') },
    { keys: 'p', does: 'Plan and tasks', run: () => setPanel(panel === 'plan' ? '' : 'plan') },
    { keys: 'v', does: 'What it changed', run: () => setPanel(panel === 'changes' ? '' : 'changes') },
    { keys: 'End', does: 'Jump to the end', run: () => list.current?.toEnd() },
  ]);
  const picture = store.picture.value;
  const items = picture.items.filter(isShown);
  /** @type {import('../session/find.js').Jump} */
  const jump = (index, id) => list.current?.show(index, id);
  useLinkedRow(store, items, jump);
  useLiveOutput(id, picture.timeline);
  const approvals = host.approvals.value;
  const context = useMemo(() => {
    const mine = [...approvals.values()].filter((one) => one.session_id === id);
    return new SessionContext(picture, new Map(mine.map((one) => [one.request_id, one])));
  }, [picture, approvals]);
  if (store.state.value !== 'live' && store.state.value !== 'loading') return html`<p class="empty wide">${marked(store.state.value)}</p>`;
  if (!session) return html`<p class="empty wide">${connection.state.value === 'online' ? 'Loading…' : ''}</p>`;
  const actions = actionsOf(id);
  const row = (/** @type {any} */ item) => html`<${ItemView} item=${item} version=${context.version(item)} context=${context} actions=${actions} />`;
  return html`<div class="session-view">
    <${SessionHeader} session=${session} timeline=${picture.timeline} panel=${panel} setPanel=${setPanel} />
    ${finding && html`<${Find} items=${items} context=${context} store=${store} jump=${jump} onClose=${() => setFinding(false)} />`}
    <div class=${`conversation ${panel ? 'with-panel' : ''}`}>
      <${VirtualList} key=${id} handle=${list} items=${items} row=${row} label="Conversation" head=${html`<${Earlier} store=${store} />`} foot=${html`<${Doing} session=${session} timeline=${picture.timeline} />`} />
      ${panel && html`<aside class=${`panel ${panel}`} aria-label=${panel} tabindex="0">
        ${panel === 'turns' && html`<${Turns} items=${items} store=${store} jump=${jump} />`}
        ${panel === 'plan' && html`<${PlanAndTasks} session=${session} timeline=${picture.timeline} />`}
        ${panel === 'changes' && html`<${Changes} session=${session} />`}
        ${panel === 'about' && html`<${About} session=${session} timeline=${picture.timeline} info=${info} />`}
      </aside>`}
    </div>
    <${Announced} key=${`told ${id}`} items=${items} live=${store.state.value === 'live'} approvals=${[...context.approvals.values()]} />
    <${Composer} key=${id} session=${session} timeline=${picture.timeline} info=${info} />
  </div>`;
}

/** An archived session is not in the list. @param {string} id */
function useFetched(id) {
  const [found, setFound] = useState(/** @type {import('../store/types.js').Session | undefined} */ (undefined));
  useEffect(() => {
    deck().call('get_session', { session_id: id }).then(setFound, () => {});
  }, [id]);
  return found;
}

/** Commands, models, tools: asked for again when a turn begins, as they may have changed. @param {string} id @param {number} turn */
function useInfo(id, turn) {
  const [info, setInfo] = useState(/** @type {Record<string, any> | null} */ (null));
  useEffect(() => {
    let wanted = true;
    deck().call('get_info', { session_id: id }).then((found) => wanted && setInfo(found), () => {});
    return () => {
      wanted = false;
    };
  }, [id, turn]);
  return info;
}

/** @param {{store: import('../store/session.js').SessionStore}} props */
function Earlier({ store }) {
  const progress = store.loadingEarlier.value;
  if (progress) return html`<p class="earlier"><progress value=${progress} aria-label="Loading" /></p>`;
  if (!store.hasEarlier.value) return null;
  return html`<p class="earlier"><button onClick=${() => attempt(store.loadEarlier())}>Show earlier items</button></p>`;
}

/** @type {Record<string, string>} */
const DOING = { requesting: 'Waiting for the model', compacting: 'Compacting', responding: 'Answering', working: 'Running tools', waiting: 'Waiting for you' };

/** The last line: what it does now. @param {{session: import('../store/types.js').Session, timeline: import('../store/timeline.js').Timeline}} props */
function Doing({ session, timeline }) {
  const { activity, retry, turn_started_at: began } = timeline;
  const told = DOING[activity];
  const since = began ? Math.max(0, now.value / 1_000 - began) : 0;
  const thinking = timeline.thinking_tokens ? `, thinking (${timeline.thinking_tokens} tokens)` : '';
  if (session.state === 'crashed' || session.state === 'limited') return html`<p class="doing problem">${session.state}: ${marked(session.state_reason)}${session.state_until ? html` ${session.state === 'limited' ? 'The limit ends at' : 'It restarts at'} <${Time} at=${session.state_until} exact=${true} />.` : null}</p>`;
  return html`<p class="doing dim">${told && (began || activity === 'requesting') ? html`<i class="turning" aria-hidden="true">◌</i> ${told}${thinking}${since > 20 ? `, ${duration(since)}` : ''}` : ''}${retry ? ` Retry ${retry.attempt}: ` : ''}${retry ? marked(retry.error) : ''}</p>`;
}
