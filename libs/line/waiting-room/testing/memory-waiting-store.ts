import { Unavailable } from '@waybell/runtime/unavailable';
import { readRow, writeRow } from '../../delivery-batch.ts';
import { rowKeyText } from '../put-rows.ts';
import { accountsBeyond } from '../postgres-waiting-store.ts';
import {
  MOST_BYTES,
  type HeldSum,
  type RowKey,
  type RowsWanted,
  type TakenKey,
  type TakenRows,
  type WaitingFigures,
  type WaitingRow,
  type WaitingStore,
  type WaitingSum,
} from '../waiting-store.ts';
import { MemoryRooms, type MemoryRoom } from './memory-rooms.ts';
import type { StoredRow } from './memory-rows.ts';

/** Rows that are moved at once, at most. */
const MOST_MOVED = 500;

/** The rows that wait for one service, in memory, by a given clock, with the promises of `waitingIn`. */
export class MemoryWaiting {
  /** Whether all methods reject with `Unavailable`. */
  isAway = false;
  /** Until when the subscription is held whose room this is, by the clock; -Infinity: it is not. */
  heldUntil: (room: string) => number = () => Infinity;
  readonly #now: () => number;
  readonly #rooms: MemoryRooms;
  #onFilled: (() => void)[] = [];
  /** The last `no` of any row. */
  #lastNo = 0;

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#rooms = new MemoryRooms(now);
  }

  /** The store as this process sees it; all of them see the same rows. */
  storeFor(process: string): WaitingStore {
    const there = <Given extends unknown[], T>(work: (...given: Given) => T) => this.#whileThere(work);
    return {
      put: there((rows) => {
        // The last of several with one key counts.
        for (const row of new Map(rows.map((each) => [rowKeyText(each), each])).values()) this.#put(row);
        return rows.map((row) => this.#rooms.get(row.room)?.rows.get(row)?.no ?? 0);
      }),
      retain: there((keys) => keys.map((key) => this.#retain(key))),
      claim: there((claim) => this.#rooms.claim(process, claim)),
      renew: there((rooms) => this.#rooms.renew(process, rooms)),
      take: there((wanted) => wanted.map((each) => this.#take(each))),
      settle: there((keys) => {
        for (const key of keys) if (this.#asTaken(key) !== undefined) this.#rooms.get(key.room)?.rows.remove(key);
      }),
      postpone: there((keys, afterMs) => keys.map((key) => this.#postpone(key, afterMs))),
      release: there((rooms) => this.#rooms.release(process, rooms)),
      shutRooms: there(() => this.#shutRooms()),
      subscriptionsIn: there((room) => [
        ...new Set([...this.#rowsOf(room)].flatMap(({ subscription }) => subscription ?? [])),
      ]),
      move: there((what) => this.#move(what)),
      noteScanned: there((name, { changes, overBefore }) => {
        const room = this.#rooms.get(name);
        if (room?.claimedBy !== process) return;
        room.changes = Math.max(0, room.changes - changes);
        if (overBefore !== undefined && (room.overBefore ?? Infinity) <= overBefore) delete room.overBefore;
      }),
      lookAfterHeld: there(() => this.#lookAfterHeld()),
      flushSums: there(() => undefined),
      sumsBeyond: there((limits) => {
        const sums = this.#sums();
        const all = sumOf(sums);
        return { all, beyond: accountsBeyond(all, sums, limits) };
      }),
      endBeyond: there((account, mayHave) => this.#endBeyond(account, mayHave)),
      figures: there(() => this.#figures()),
    };
  }

  /** Number of rows. */
  get count(): number {
    return [...this.#rooms.all()].reduce((count, { rows }) => count + rows.size, 0);
  }

  /** A room as it is; undefined if there is none. */
  room(room: string): Readonly<MemoryRoom> | undefined {
    return this.#rooms.get(room);
  }

  /** Resolves as soon as something waits. */
  async untilFilled(): Promise<void> {
    if (this.count === 0) await new Promise<void>((resolve) => this.#onFilled.push(resolve));
  }

  /** Notes a change of a subscription with this endpoint: another URL, switched off, ended, another feature. */
  changed(name: string): void {
    const room = this.#rooms.get(name);
    if (room === undefined) return;
    room.changes += 1;
    this.#rooms.wake(room);
  }

  /** Deletes the body of a row, as an erasure request does. */
  forget(key: RowKey): void {
    const row = this.#rooms.get(key.room)?.rows.get(key);
    if (row === undefined) return;
    row.bytes -= row.content.body.length;
    const body = Buffer.alloc(0);
    row.content = {
      ...row.content,
      body,
      ...(row.content.delivery && { delivery: { ...row.content.delivery, body } }),
    };
    row.isForgotten = true;
  }

  #whileThere<Given extends unknown[], T>(work: (...given: Given) => T): (...given: Given) => Promise<T> {
    return async (...given) => {
      if (!this.isAway) return work(...given);
      throw new Unavailable('postgres', async () => {
        if (this.isAway) throw new Error('postgres is away');
      });
    };
  }

  #put({ afterMs, account, delivery, ...row }: WaitingRow): void {
    const dueAt = afterMs === undefined ? -Infinity : this.#now() + afterMs;
    const { room } = row;
    const { rows } = this.#rooms.make({ room, ...(account === undefined ? {} : { account }) }, dueAt);
    for (const tell of this.#onFilled.splice(0)) tell();
    const there = rows.get(row);
    if (there !== undefined) {
      Object.assign(there, { no: (this.#lastNo += 1), why: row.why, dueAt });
      return;
    }
    const { body } = delivery;
    const properties = writeRow(delivery);
    const bytes = body.length + Buffer.byteLength(properties);
    rows.insert({ ...row, content: readRow(properties, body), no: (this.#lastNo += 1), dueAt, bytes });
  }

  #retain(key: RowKey): boolean {
    const row = this.#rooms.get(key.room)?.rows.get(key);
    if (row !== undefined) row.no = this.#lastNo += 1;
    return row !== undefined;
  }

  #asTaken(key: TakenKey): StoredRow | undefined {
    const row = this.#rooms.get(key.room)?.rows.get(key);
    return row?.no === key.no ? row : undefined;
  }

  #postpone(key: TakenKey, afterMs: number): boolean {
    const row = this.#asTaken(key);
    if (row === undefined) return false;
    row.dueAt = this.#now() + afterMs;
    this.#rooms.make(row, row.dueAt);
    return true;
  }

  #take({ room, after, limit, madeBefore, subscriptions }: RowsWanted): TakenRows {
    const of = subscriptions === undefined ? undefined : new Set(subscriptions);
    const taken: TakenRows = { room, rows: [] };
    let weight = 0;
    for (const row of this.#rooms.get(room)?.rows.after(after) ?? []) {
      if (taken.rows.length === limit || row.madeAt >= (madeBefore ?? Infinity)) break;
      const isDue = row.dueAt <= this.#now() || (madeBefore !== undefined && row.why !== 'open');
      if (!isDue || (of !== undefined && !of.has(row.subscription ?? ''))) continue;
      weight += row.content.body.length;
      if (weight > MOST_BYTES && taken.rows.length > 0) return { ...taken, isCut: true };
      const { dueAt: _, bytes: __, ...found } = row;
      taken.rows.push(found);
    }
    return taken;
  }

  #shutRooms(): Map<string, number> {
    const shut = new Map<string, number>();
    for (const { room, shutSince } of this.#rooms.all()) {
      if (shutSince !== undefined) shut.set(room, this.#now() - shutSince);
    }
    return shut;
  }

  #move({ from, subscription, to, account, except, held }: Parameters<WaitingStore['move']>[0]): number {
    const kept = new Set(except.map(({ madeAt, id }) => `${madeAt} ${id}`));
    const isMoved = ({ madeAt, id, why, dueAt, ...row }: StoredRow) =>
      row.subscription === subscription && !kept.has(`${madeAt} ${id}`) && (why !== 'open' || dueAt <= this.#now());
    const moved = [...this.#rowsOf(from)]
      .filter(isMoved)
      .map((row) => ({ row, is: { ...row, ...waitsNow(row, held), room: to } }))
      .filter(({ row, is }) => from !== to || row.why !== is.why || row.dueAt !== is.dueAt)
      .slice(0, MOST_MOVED);
    for (const { row, is } of moved) {
      if (from !== to) this.#rooms.get(from)?.rows.remove(row);
      const { rows } = this.#rooms.make({ room: to, account }, is.dueAt);
      const there = rows.get(is);
      if (there === undefined) rows.insert(is);
      else if (from === to) Object.assign(there, is);
      else there.no = this.#lastNo += 1;
    }
    return moved.length;
  }

  #lookAfterHeld(): void {
    for (const { room, lookAt, claimedBy, shutSince } of this.#rooms.all()) {
      const isAsleep = claimedBy === undefined && shutSince === undefined && lookAt > this.#now();
      if (isAsleep && lookAt > this.heldUntil(room)) this.changed(room);
    }
  }

  #endBeyond(account: string, mayHave: WaitingSum): boolean {
    const rooms = [...this.#rooms.all()].filter((room) => room.account === account);
    if (rooms.some(({ overBefore }) => overBefore !== undefined)) return true;
    const rows = rooms.flatMap((room) => [...room.rows.after()]);
    let [count, bytes, since] = [0, 0, 1 + rows.reduce((last, { madeAt }) => Math.max(last, madeAt), 0)];
    for (const row of rows.toSorted((one, other) => other.madeAt - one.madeAt)) {
      bytes += row.bytes;
      if (count === mayHave.rows || bytes > mayHave.bytes) break;
      count += 1;
      since = row.madeAt;
    }
    if (count === rows.length) return false;
    for (const room of rooms) {
      const [oldest] = room.rows.after();
      if (oldest === undefined || oldest.madeAt >= since) continue;
      room.overBefore = since;
      this.#rooms.wake(room);
    }
    return true;
  }

  #sums(): HeldSum[] {
    const rooms = [...this.#rooms.all()].filter(({ account }) => account !== undefined);
    return [...Map.groupBy(rooms, ({ account = '' }) => account)].map(([holder, own]) => {
      return {
        holder,
        ...sumOf(own.flatMap(({ rows }) => [...rows.after()].map(({ bytes }) => ({ rows: 1, bytes })))),
      };
    });
  }

  #figures(): WaitingFigures {
    const rows = [...this.#rooms.all()].flatMap((room) => [...room.rows.after()]);
    const sum = { rows: rows.length, bytes: rows.reduce((total, { bytes }) => total + bytes, 0) };
    return rows.length === 0
      ? sum
      : { ...sum, oldestAt: rows.reduce((first, { madeAt }) => Math.min(first, madeAt), Infinity) };
  }

  #rowsOf(room: string): Iterable<StoredRow> {
    return this.#rooms.get(room)?.rows.after() ?? [];
  }
}

/** Why and until when a row waits that is moved. */
function waitsNow(
  { why, dueAt, madeAt }: StoredRow,
  held: Parameters<WaitingStore['move']>[0]['held'],
): Pick<StoredRow, 'why' | 'dueAt'> {
  if (held !== undefined) {
    const { until = Infinity, maxAgeMs } = held;
    return { why: held.why, dueAt: Math.min(until, madeAt + maxAgeMs + 1) };
  }
  return why === 'paused' || why === 'stopped' ? { why: 'full', dueAt: -Infinity } : { why, dueAt };
}

const sumOf = (sums: readonly WaitingSum[]): WaitingSum => ({
  rows: sums.reduce((total, { rows }) => total + rows, 0),
  bytes: sums.reduce((total, { bytes }) => total + bytes, 0),
});
