import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { LiveState } from '../../api/live.ts';
import { Guid } from '../../parts/guid.tsx';
import { LongList } from '../../parts/long-list.tsx';
import { Moment, writtenDuration } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failed } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { isWriting } from '../../shell.tsx';
import { useFeed, type FeedItem } from './use-feed.ts';

const RESULTS = ['delivered', 'failed', 'exhausted', 'dropped', 'suppressed', 'notice'];

/** What happens now. `p` stops it, so that one can read. */
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
          <input
            type="search"
            aria-label="Only actions with this in their name"
            placeholder="Action"
            value={action}
            onChange={(event) => setAction(event.target.value)}
          />
          <select aria-label="Only this result" value={result} onChange={(event) => setResult(event.target.value)}>
            <option value="">all results</option>
            {RESULTS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <button type="button" aria-pressed={isPaused} aria-keyshortcuts="p" onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Go on' : 'Pause'} <kbd>p</kbd>
          </button>
        </div>
      }
    >
      <Standing state={state} isPaused={isPaused} skipped={skipped} />
      {shown.length === 0 ? (
        <Empty>
          <p>
            {items.length === 0 ? 'Nothing has happened since this page was opened.' : 'Nothing of that has happened.'}
          </p>
        </Empty>
      ) : (
        <LongList
          label="What happened, newest first"
          items={shown}
          keyOf={({ place }) => String(place)}
          estimatedPx={48}
        >
          {(item) => <FeedLine item={item} />}
        </LongList>
      )}
    </Page>
  );
}

function Standing({ state, isPaused, skipped }: { state: LiveState; isPaused: boolean; skipped: number }) {
  return (
    <>
      <p className="small" role="status">
        {isPaused ? 'Paused: what happens meanwhile is shown when you go on.' : NAMES[state.kind]}
        {skipped > 0 && ' More happened than is shown here: the timeline of each has all of it.'}
      </p>
      {state.kind === 'broken' && <Failed error={state.error} />}
    </>
  );
}

const NAMES = { connecting: 'Connecting …', live: 'Live.', broken: 'The feed has stopped.' };

function FeedLine({ item }: { item: FeedItem }) {
  return (
    <div className="feed-line">
      <Status of={item.result} />
      <strong>{item.action}</strong>
      {item.notice !== undefined && <code>{item.notice}</code>}
      {item.httpStatus !== undefined && <code>HTTP {item.httpStatus}</code>}
      {item.reason !== undefined && <code>{item.reason}</code>}
      {item.durationMs !== undefined && <span className="quietly">{writtenDuration(item.durationMs)}</span>}
      <About item={item} />
      <Moment at={item.at} />
    </div>
  );
}

/** Leads to what an item tells of. */
function About({ item: { deliveryGuid, eventGuid, notice } }: { item: FeedItem }) {
  if (deliveryGuid !== undefined) {
    return (
      <Link to="/deliveries/$guid" params={{ guid: deliveryGuid }}>
        delivery <Guid guid={deliveryGuid} />
      </Link>
    );
  }
  if (notice === 'certificate.ending') return <Link to="/credentials">credentials</Link>;
  if (eventGuid === undefined) return <Link to="/subscriptions">subscriptions</Link>;
  return (
    <Link to="/timeline/$key" params={{ key: eventGuid }}>
      event <Guid guid={eventGuid} />
    </Link>
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
