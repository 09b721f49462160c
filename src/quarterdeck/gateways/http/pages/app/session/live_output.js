/**
 * The output of commands while they run. Claude Code does not send it by itself: it is asked for as long as somebody
 * looks, and the answer comes through the log like everything else.
 */

import { deck } from '../deck.js';
import { useEffect } from '../lib.js';

const LOOK_MS = 1_000;

/** @param {string} id @param {import('../store/timeline.js').Timeline} timeline */
export function useLiveOutput(id, timeline) {
  const running = [...timeline.tasks.values()].some((task) => task.kind === 'local_bash' && task.status === 'running');
  useEffect(() => {
    if (!running) return undefined;
    let wanted = true;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const look = async () => {
      if (document.visibilityState === 'visible') await deck().call('list_tasks', { session_id: id }).catch(() => {});
      if (wanted) timer = setTimeout(look, LOOK_MS);
    };
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [id, running]);
}
