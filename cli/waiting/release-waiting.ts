import { endWithoutAttempt } from '@waybell/deliverer/deliver';
import { asWaited, readDelivery } from '@waybell/line/delivery';
import { joinDeliveries } from '@waybell/line/delivery-batch';
import { isRejection, type Publication, publishAgain } from '@waybell/line/messages';
import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { OutboxStore } from '@waybell/line/outbox/postgres-outbox';
import type { ClaimedRoom, RowsWanted, TakenRow, WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Queryable } from '@waybell/runtime/postgres';

/** The selected rooms. */
export type WaitingSelection = { kind: 'all' } | { kind: 'account' | 'subscription'; guid: string };

/** `room`: 32 hexadecimal digits. `called`: what people call it. */
type ChosenRoom = { room: string; called: string };

/** `records`: of deliveries that have no body any more. `claimedByOthers`: what people call it that other processes have claimed. */
export type ReleasedRows = { deliveries: number; publications: number; records: number; claimedByOthers: string[] };

type Release = {
  store: WaitingStore;
  line: Pick<CommandPublisher, 'publish'>;
  rooms: readonly ChosenRoom[];
  /** Only rows of this subscription. */
  subscription?: string | undefined;
  released: ReleasedRows;
  /** How many rows have gone until now, now and then. */
  onMoved?: ((rows: number) => void) | undefined;
  now?: () => number;
};

const ROOMS = `
  select encode(uuid_send(r.room), 'hex') as room, coalesce(current.url, r.room::text) as called
  from waybell.deliverer_rooms r left join lateral (
    select split_part(s.callback_url, '?', 1) as url from waybell.subscriptions s
    where s.account_guid = r.account and r.room in (waybell.room_of(s.account_guid, s.callback_url), s.guid) limit 1
  ) current on true
  where r.name is null and ($1::uuid is null or r.account = $1) and ($2::uuid is null or exists (
    select from waybell.deliverer_waiting w where w.room = r.room and w.subscription = $2))
  order by r.room`;

const ROOMS_TOGETHER = 8;
const MOST_ROWS = 256;
const REPORT_EVERY = 10_000;

/** Returns the selected rooms that have rows. */
export async function chosenRooms(postgres: Queryable, choice: WaitingSelection): Promise<ChosenRoom[]> {
  const account = choice.kind === 'account' ? choice.guid : null;
  const subscription = choice.kind === 'subscription' ? choice.guid : null;
  return (await postgres.query<ChosenRoom>(ROOMS, [account, subscription])).rows;
}

/**
 * Publishes the rows of rooms that no other process has, due or not, except for requests under way, and deletes each once the
 * broker has it. Counts in `released`. Throws if no queue takes one; the rows published until then are deleted.
 */
export async function releaseWaiting(release: Release): Promise<void> {
  const { store, rooms, released } = release;
  for (let from = 0; from < rooms.length; from += ROOMS_TOGETHER) {
    const some = rooms.slice(from, from + ROOMS_TOGETHER);
    const claimed = await store.claim({ kind: 'named', rooms: some.map(({ room }) => room) });
    const claims = new Map(claimed.map((room) => [room.room, room]));
    released.claimedByOthers.push(...some.flatMap(({ room, called }) => (claims.has(room) ? [] : called)));
    try {
      await releaseClaimed(release, claims);
    } finally {
      await store.release(
        claimed.map(({ room, shutForMs }) => ({ room, ...(shutForMs === undefined ? {} : { shutForMs }) })),
      );
      await store.flushSums();
    }
  }
}

async function releaseClaimed(release: Release, claims: ReadonlyMap<string, ClaimedRoom>): Promise<void> {
  const { store, rooms, subscription, released } = release;
  const all = { limit: MOST_ROWS, madeBefore: Number.MAX_SAFE_INTEGER };
  const of = subscription === undefined ? all : { ...all, subscriptions: [subscription] };
  // Requests that are under way are due once nobody makes them any more.
  let wanted: RowsWanted[] = [...claims.keys()].map((room) => ({ room, ...of }));
  while (wanted.length > 0) {
    const renewed = await store.renew(wanted.map(({ room }) => ({ room, lives: true })));
    const still = new Set(renewed.map(({ room }) => room));
    const lost = new Set(wanted.flatMap(({ room }) => (still.has(room) ? [] : room)));
    released.claimedByOthers.push(...rooms.flatMap(({ room, called }) => (lost.has(room) ? called : [])));
    const taken = await store.take(wanted.filter(({ room }) => still.has(room)));
    await publishAll(
      release,
      taken.flatMap(({ rows }) => rows),
    );
    wanted = taken.flatMap(({ room, rows }) => {
      const after = rows.at(-1);
      return after === undefined ? [] : [{ room, after, ...of }];
    });
  }
}

async function publishAll(
  { store, line, released, onMoved, now = Date.now }: Release,
  rows: readonly TakenRow[],
): Promise<void> {
  const before = countOf(released);
  const joined = joinDeliveries(rows.map((row) => ({ row, publication: publicationOf(row, now) })));
  const results = await Promise.allSettled(joined.map(async ({ publication }) => publishOn(line, publication)));
  const gone = joined.flatMap(({ members }, place) => (results[place]?.status === 'fulfilled' ? members : []));
  await store.settle(gone.map(({ row }) => row));
  for (const { row } of gone) {
    if (row.isForgotten === true) released.records += 1;
    else released.deliveries += 1;
  }
  const moved = countOf(released);
  if (Math.floor(moved / REPORT_EVERY) > Math.floor(before / REPORT_EVERY)) onMoved?.(moved);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A row is due again after so long, should the command be killed. */
const CLAIM_MS = 20_000;

/** Publishes the rows of an outbox that are due and that no other process has, and deletes each once the broker has it; like `releaseWaiting`. */
export async function releaseOutbox({
  store,
  called,
  line,
  released,
}: Pick<Release, 'line' | 'released'> & { store: OutboxStore; called: string }): Promise<void> {
  const open = new Set<string>();
  for (;;) {
    const rows = await store.claim({ open: [...open], shut: [], claimMs: CLAIM_MS });
    if (rows.length === 0) break;
    const results = await Promise.allSettled(rows.map(async ({ publication }) => publishOn(line, publication)));
    const gone = rows.filter((_, place) => results[place]?.status === 'fulfilled');
    await store.settle(gone);
    await store.keep(rows.filter((row) => !gone.includes(row)));
    for (const { destination } of gone) open.add(destination);
    released.publications += gone.length;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
  if ((await store.figures()).rows > 0) released.claimedByOthers.push(called);
}

const countOf = ({ deliveries, publications, records }: ReleasedRows): number => deliveries + publications + records;

async function publishOn(line: Release['line'], publication: Publication): Promise<void> {
  if ((await line.publish(publication)) === 'confirmed') return;
  const { exchange, routingKey } = publication;
  throw new Error(
    `no queue takes ${exchange} ${routingKey}: create the line with all its actions ("./waybell declare"), then run it again`,
  );
}

/**
 * Returns the publication for a row: that of the delivery, unchanged; if its body was deleted, the record of its end.
 * Throws if such a row cannot be read.
 */
function publicationOf(row: TakenRow, now: () => number): Publication {
  const message = asWaited(row, { crashes: 0, isOverLimit: false });
  if (row.isForgotten !== true) return publishAgain(message, message);
  const delivery = readDelivery(message);
  if (isRejection(delivery)) throw new Error(`the delivery ${row.id} that waits cannot be read: ${delivery.detail}`);
  const over = endWithoutAttempt(delivery, undefined, { maxAgeMs: Infinity, now });
  return publishOutcomes(over === undefined ? [] : [over]);
}
