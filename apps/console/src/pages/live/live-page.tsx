import { useEffect, useMemo, useState } from 'react';
import type { LiveState } from '../../api/live.ts';
import { LongList } from '../../parts/long-list.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failed } from '../../parts/states.tsx';
import { FEED, statusWord } from '../../parts/words.ts';
import { isWriting } from '../../shell.tsx';
import { FeedColumns, FeedLine } from './feed-line.tsx';
import { useFeed } from './use-feed.ts';

const RESULTS = ['delivered', 'failed', 'exhausted', 'dropped', 'suppressed', 'notice'];

/** The live feed, after the latest entries. `p` pauses it for reading. */
export function LivePage() {
  const [isPaused, setPaused] = usePause();
  const [action, setAction] = useState('');
  const [result, setResult] = useState('');
  const { items, state, skipped } = useFeed(isPaused);
  const shown = useMemo(
    () => items.filter((item) => (result === '' || item.result === result) && item.action.includes(action.trim())),
    [items, result, action],
  );
  return (
    <Page
      title="Live"
      tools={
        <div className="tools">
          <Standing state={state} isPaused={isPaused} />
          <input
            type="search"
            aria-label="Filter by action"
            placeholder="Action"
            value={action}
            onChange={(event) => setAction(event.target.value)}
          />
          <select aria-label="Filter by status" value={result} onChange={(event) => setResult(event.target.value)}>
            <option value="">All statuses</option>
            {RESULTS.map((each) => (
              <option key={each} value={each}>
                {statusWord(each)}
              </option>
            ))}
          </select>
          <button type="button" aria-pressed={isPaused} aria-keyshortcuts="p" onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'} <kbd>p</kbd>
          </button>
        </div>
      }
    >
      {state.kind === 'broken' && <Failed error={state.error} />}
      {skipped > 0 && <p className="small">More happened than is shown here: the timeline of each has all of it.</p>}
      {shown.length === 0 ? (
        <Empty>
          <p>{items.length === 0 ? 'Nothing has happened yet.' : 'Nothing matches these filters.'}</p>
        </Empty>
      ) : (
        <>
          <FeedColumns />
          <LongList
            label="What happened, newest first"
            items={shown}
            keyOf={({ place }) => String(place)}
            estimatedPx={42}
          >
            {(item) => <FeedLine item={item} />}
          </LongList>
        </>
      )}
    </Page>
  );
}

/** Whether it is live: by a word, and by a dot that is filled while it is. */
function Standing({ state, isPaused }: { state: LiveState; isPaused: boolean }) {
  const isLive = state.kind === 'live' && !isPaused;
  return (
    <span className="standing" role="status">
      <span className={`dot ${isLive ? 'good' : ''}`} aria-hidden="true" />
      {isPaused ? 'Paused' : FEED[state.kind]}
    </span>
  );
}

function usePause() {
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (event.key !== 'p' || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      setPaused((before) => !before);
    };
    addEventListener('keydown', toggle);
    return () => removeEventListener('keydown', toggle);
  }, []);
  return [isPaused, setPaused] as const;
}
