import { useEffect, useState } from 'react';
import { followLive, type LiveMessage, type LiveState } from '../../api/live.ts';
import { told } from '../../api/ask.ts';
import { useSignedIn } from '../../session/session.ts';
import { itemOfDelivery, readItem, type FeedItem } from './feed-item.ts';

type Feed = {
  items: readonly FeedItem[];
  state: LiveState;
  /** How often more happened than the feed tells. */
  skipped: number;
};

/** Limit of the items kept: the oldest go. */
const KEPT = 10_000;
/** Number of items from before the page was opened. */
const BEFORE = 50;
/** The page is drawn this often, however much comes. */
const DRAW_EVERY_MS = 250;

/** The last deliveries from before the page was opened, and what has happened since, newest first. While `isPaused` nothing moves, and what comes is kept for later. */
export function useFeed(isPaused: boolean): Feed {
  const { ask } = useSignedIn();
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
    void followLive({ ask, signal, onMessage, onState });
    // Without them the feed goes on.
    void earlier(ask, signal).then(
      (items) => signal.aborted || setFeed((before) => ({ ...before, items: joined(before.items, items) })),
      () => undefined,
    );
    return () => stop.abort();
  }, [ask, inbox]);
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

/** Numbered below all that the feed tells. */
async function earlier(ask: ReturnType<typeof useSignedIn>['ask'], signal: AbortSignal): Promise<FeedItem[]> {
  const { objects } = await told(ask.client.GET('/v1/deliveries', { params: { query: { limit: BEFORE } }, signal }));
  const items = objects.map((delivery, place) => itemOfDelivery(delivery, -place));
  return items.toSorted((one, other) => other.at.localeCompare(one.at));
}

/** The list of deliveries and the feed may both have an attempt: the newer list wins. */
function joined(newer: readonly FeedItem[], older: readonly FeedItem[]): FeedItem[] {
  const known = new Set(newer.map(attemptOf).filter((attempt) => attempt !== undefined));
  return [...newer, ...older.filter((item) => !known.has(attemptOf(item) ?? ''))];
}

const attemptOf = ({ deliveryGuid, attempt }: FeedItem): string | undefined =>
  deliveryGuid === undefined || attempt === undefined ? undefined : `${deliveryGuid} ${attempt}`;
