import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { answerOf, type ApiClient } from '../../api/create-api.ts';
import { followLive, type LiveMessage, type LiveState } from '../../api/live.ts';
import { LongList } from '../../parts/long-list.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failed } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { FEED, statusWord } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { isWriting } from '../../shell.tsx';
import { KeyNames } from '../deliveries/delivery-cells.tsx';
import { itemOfDelivery, readItem, type FeedItem } from './feed-item.ts';

const RESULTS = ['delivered', 'failed', 'exhausted', 'dropped', 'suppressed', 'notice'];

const COLUMNS = ['Time', 'Action', 'Key', 'Status', 'HTTP', 'Duration', 'Attempt'];

/** At most so many items: the oldest are dropped. */
const KEPT = 10_000;
/** Number of items from before the page was opened. */
const BEFORE = 50;
/** The page is drawn this often, however much arrives. */
const DRAW_EVERY_MS = 250;

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

/** Whether the feed is live, as a word, and as a dot that is filled while it is. */
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

/** The headings of the columns. */
function FeedColumns() {
  return (
    <div className="feed-columns" aria-hidden="true">
      {COLUMNS.map((name) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  );
}

/** An item in columns; the whole line is a link. */
function FeedLine({ item }: { item: FeedItem }) {
  const { at, action, keys, result, notice, reason, httpStatus, durationMs, attempt } = item;
  return (
    <div className="feed-line" data-guid={item.deliveryGuid ?? item.eventGuid}>
      <About item={item}>
        <Moment at={at} />
      </About>
      <span>
        <Foreign text={action} />
      </span>
      <span>{notice === undefined ? <KeyNames keys={keys} /> : <code>{notice}</code>}</span>
      <span>
        <Status of={result} />
      </span>
      <span className="number">
        <code title={reason}>{httpStatus ?? reason ?? '–'}</code>
      </span>
      <span className="number quietly">{durationMs === undefined ? '–' : writtenDuration(durationMs)}</span>
      <span className="number attempt">{attempt ?? '–'}</span>
    </div>
  );
}

/** A link to the delivery, event, certificate or subscription that an item is about. */
function About({ item: { deliveryGuid, eventGuid, notice }, children }: { item: FeedItem; children: ReactNode }) {
  const { api } = useSignedIn();
  if (deliveryGuid !== undefined) {
    return (
      <Link className="row-link" to="/deliveries/$guid" params={{ guid: deliveryGuid }}>
        {children}
      </Link>
    );
  }
  if (notice === 'certificate.ending' && api.actingFor === undefined) {
    return (
      <Link className="row-link" to="/credentials">
        {children}
      </Link>
    );
  }
  if (eventGuid === undefined) {
    return (
      <Link className="row-link" to="/subscriptions">
        {children}
      </Link>
    );
  }
  return (
    <Link className="row-link" to="/timeline" search={{ key: eventGuid }}>
      {children}
    </Link>
  );
}

type Feed = {
  items: readonly FeedItem[];
  state: LiveState;
  /** How often the feed left something out. */
  skipped: number;
};

/**
 * The last deliveries from before the page was opened, and what has happened since, newest first. While `isPaused` nothing moves:
 * what arrives is kept in an inbox, which is drawn a few times a second otherwise.
 */
function useFeed(isPaused: boolean): Feed {
  const { api } = useSignedIn();
  const [feed, setFeed] = useState<Feed>({ items: [], state: { kind: 'connecting' }, skipped: 0 });
  const [inbox] = useState(() => ({ items: [] as FeedItem[], skipped: 0, place: 0 }));
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const onState = (state: LiveState) => setFeed((before) => ({ ...before, state }));
    const onMessage = (message: LiveMessage) => {
      if (message.event === 'skipped') inbox.skipped += 1;
      const item = readItem(message, inbox.place + 1);
      if (item === undefined) return;
      inbox.place += 1;
      inbox.items.push(item);
      if (inbox.items.length > KEPT) inbox.items.splice(0, inbox.items.length - KEPT);
    };
    void followLive({ api, signal, onMessage, onState });
    // If they cannot be read, the feed starts empty.
    void earlier(api, signal).then(
      (items) => signal.aborted || setFeed((before) => ({ ...before, items: joined(before.items, items) })),
      () => undefined,
    );
    return () => stop.abort();
  }, [api, inbox]);
  useEffect(() => {
    if (isPaused) return undefined;
    const draw = setInterval(() => {
      if (inbox.items.length === 0 && inbox.skipped === 0) return;
      const { items: came, skipped } = inbox;
      inbox.items = [];
      inbox.skipped = 0;
      setFeed((before) => ({
        ...before,
        items: joined(came.toReversed(), before.items).slice(0, KEPT),
        skipped: before.skipped + skipped,
      }));
    }, DRAW_EVERY_MS);
    return () => clearInterval(draw);
  }, [isPaused, inbox]);
  return feed;
}

/** Deliveries from before, numbered below all items of the feed. */
async function earlier(api: ApiClient, signal: AbortSignal): Promise<FeedItem[]> {
  const { objects } = await answerOf(
    api.client.GET('/v1/deliveries', { params: { query: { limit: BEFORE } }, signal }),
  );
  const items = objects.map((delivery, place) => itemOfDelivery(delivery, -place));
  return items.toSorted((one, other) => other.at.localeCompare(one.at));
}

/** Joins two lists of items. Both may have an attempt: the newer list wins. */
function joined(newer: readonly FeedItem[], older: readonly FeedItem[]): FeedItem[] {
  const known = new Set(newer.map(attemptOf).filter((attempt) => attempt !== undefined));
  return [...newer, ...older.filter((item) => !known.has(attemptOf(item) ?? ''))];
}

const attemptOf = ({ deliveryGuid, attempt }: FeedItem): string | undefined =>
  deliveryGuid === undefined || attempt === undefined ? undefined : `${deliveryGuid} ${attempt}`;
