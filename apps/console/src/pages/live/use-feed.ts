import { useEffect, useState } from 'react';
import { followLive, type LiveMessage, type LiveState } from '../../api/live.ts';
import { useSignedIn } from '../../session/session.ts';

export type FeedItem = {
  /** In the order in which they came. */
  place: number;
  at: string;
  action: string;
  /** delivered, failed, exhausted, dropped, suppressed, or notice: of a subscription. */
  result: string;
  /** What a notice is of, such as subscription.switched_off. */
  notice: string | undefined;
  reason: string | undefined;
  httpStatus: number | undefined;
  durationMs: number | undefined;
  eventGuid: string | undefined;
  deliveryGuid: string | undefined;
};

type Feed = { items: readonly FeedItem[]; state: LiveState; skipped: number };

/** As many as are kept: the oldest go. */
const KEPT = 10_000;
/** The page is drawn this often, however much comes. */
const DRAW_EVERY_MS = 250;

/** What happened since the page was opened, newest first. While `isPaused` nothing moves, and what comes is kept for later. */
export function useFeed(isPaused: boolean): Feed {
  const { ask } = useSignedIn();
  const [feed, setFeed] = useState<Feed>({ items: [], state: { kind: 'connecting' }, skipped: 0 });
  const [inbox] = useState(() => ({ items: [] as FeedItem[], skipped: 0, place: 0 }));
  useEffect(() => {
    const stop = new AbortController();
    const onState = (state: LiveState) => setFeed((before) => ({ ...before, state }));
    const onMessage = (message: LiveMessage) => {
      if (message.event === 'skipped') inbox.skipped += 1;
      const item = read(message, inbox.place + 1);
      if (item === undefined) return;
      inbox.place += 1;
      inbox.items.push(item);
      if (inbox.items.length > KEPT) inbox.items.splice(0, inbox.items.length - KEPT);
    };
    void followLive({ ask, signal: stop.signal, onMessage, onState });
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
        items: [...came.toReversed(), ...before.items].slice(0, KEPT),
        skipped: before.skipped + skipped,
      }));
    }, DRAW_EVERY_MS);
    return () => clearInterval(draw);
  }, [isPaused, inbox]);
  return feed;
}

type FeedEntry = {
  action: string | null;
  event_guid?: string;
  delivery_guid?: string | null;
  at?: string;
  reason?: string | null;
  /** Of a notice: what became of the subscription, at which address, and what the receiver answered last. */
  kind?: string;
  callback_url?: string | null;
  /** Of a certificate. */
  host?: string | null;
  ends_at?: string | null;
  status?: number | null;
  cause?: string;
  attempt?: { at: string; kind: string; reason?: string; http_status?: number; duration_ms?: number };
};

function read({ event, data }: LiveMessage, place: number): FeedItem | undefined {
  if (event !== 'attempt' && event !== 'suppressed' && event !== 'notice') return undefined;
  // As the document says of them.
  const told = JSON.parse(data) as FeedEntry;
  const { attempt } = told;
  return {
    place,
    at: attempt?.at ?? told.at ?? '',
    action: told.action ?? told.callback_url ?? told.host ?? '',
    result: attempt?.kind ?? event,
    reason: attempt?.reason ?? told.cause ?? told.reason ?? told.ends_at ?? undefined,
    notice: event === 'notice' ? told.kind : undefined,
    httpStatus: attempt?.http_status ?? told.status ?? undefined,
    durationMs: attempt?.duration_ms,
    eventGuid: told.event_guid,
    deliveryGuid: told.delivery_guid ?? undefined,
  };
}
