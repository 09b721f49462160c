/** A link to a row of a session's log (`?at=SEQ`) leads to the item that it is about. */

import { useEffect, useState } from '../lib.js';
import { sayError } from '../parts/toasts.js';
import { place } from '../router.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../store/session.js').SessionStore} SessionStore
 */

/** @param {SessionStore} store @param {Item[]} items Those that are shown. @param {import('./find.js').Jump} jump */
export function useLinkedRow(store, items, jump) {
  const seq = Number(place.value.query.get('at') ?? 0);
  const live = store.state.value === 'live';
  const [row, setRow] = useState(/** @type {{ids: Set<string>, at: number} | null} */ (null));
  useEffect(() => {
    let wanted = true;
    setRow(null);
    if (live && seq > 0) store.rowAt(seq).then((found) => wanted && setRow(found), sayError);
    return () => {
      wanted = false;
    };
  }, [store, seq, live]);
  useEffect(() => {
    if (row === null || !items.length) return;
    const exactly = items.findIndex((item) => row.ids.has(item.id));
    // What has no item of its own happened after the last one that had begun by then.
    const index = exactly >= 0 ? exactly : items.findLastIndex((item) => item.at <= row.at);
    jump(Math.max(0, index), exactly >= 0 ? [...row.ids][0] : undefined);
    setRow(null);
  }, [row]);
}
