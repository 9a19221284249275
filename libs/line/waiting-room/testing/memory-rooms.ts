import { CLAIM_MS, type Claim, type ClaimedRoom, type Released, type AnyWaitingRow } from '../waiting-store.ts';
import { MemoryRows } from './memory-rows.ts';

/** `lookAt`, `shutSince`: by the clock of the store. While the room is claimed, `lookAt` is the end of the claim. */
export type MemoryRoom = {
  room: string;
  name?: string;
  account?: string;
  lookAt: number;
  claimedBy?: string;
  shutSince?: number;
  changes: number;
  overBefore?: number;
  crashes: number;
  rows: MemoryRows;
};

/** Changed rooms that are claimed beside the others, at most. */
const MOST_CHANGED = 64;

/** The rooms, and who has claimed them. */
export class MemoryRooms {
  readonly #now: () => number;
  readonly #all = new Map<string, MemoryRoom>();

  constructor(now: () => number) {
    this.#now = now;
  }

  all(): Iterable<MemoryRoom> {
    return this.#all.values();
  }

  get(room: string): MemoryRoom | undefined {
    return this.#all.get(room);
  }

  /** Makes a room that is missing; wakes one that nobody has and that is open. `dueAt`: of a row that is put there. */
  make({ room, name, account }: Pick<AnyWaitingRow, 'room' | 'name' | 'account'>, dueAt: number): MemoryRoom {
    const lookAt = Math.max(dueAt, this.#now());
    const there = this.#all.get(room);
    if (there !== undefined) {
      const isAsleep = there.claimedBy === undefined && there.shutSince === undefined;
      if (isAsleep) there.lookAt = Math.min(there.lookAt, lookAt);
      return there;
    }
    const made: MemoryRoom = { room, lookAt, changes: 0, crashes: 0, rows: new MemoryRows() };
    if (name !== undefined) made.name = name;
    if (account !== undefined) made.account = account;
    this.#all.set(room, made);
    return made;
  }

  /** Makes a room due that nobody has. */
  wake(room: MemoryRoom): void {
    if (room.claimedBy === undefined) room.lookAt = this.#now();
  }

  claim(process: string, claim: Claim): ClaimedRoom[] {
    return this.#toClaim(process, claim).map((room) => {
      if (room.claimedBy !== undefined && room.claimedBy !== process) room.crashes += 1;
      room.claimedBy = process;
      room.lookAt = this.#now() + CLAIM_MS;
      return this.#describe(room);
    });
  }

  renew(process: string, rooms: readonly { room: string; lives: boolean }[]): ClaimedRoom[] {
    return rooms.flatMap(({ room: name, lives }) => {
      const room = this.#all.get(name);
      if (room?.claimedBy === undefined) return [];
      if (room.claimedBy !== process) room.crashes = Math.max(0, room.crashes - 1);
      if (room.claimedBy !== process || room.lookAt <= this.#now()) return [];
      room.lookAt = this.#now() + CLAIM_MS;
      if (lives) room.crashes = 0;
      return [this.#describe(room)];
    });
  }

  release(process: string, released: readonly Released[]): string[] {
    return released.flatMap(({ room: name, afterMs, shutForMs }) => {
      const room = this.#all.get(name);
      if (room?.claimedBy !== process) return [];
      if (room.rows.size === 0) {
        this.#all.delete(name);
        return [name];
      }
      room.lookAt = afterMs === undefined ? this.#lookAt(room) : this.#now() + afterMs;
      room.crashes = 0;
      delete room.claimedBy;
      if (shutForMs === undefined) delete room.shutSince;
      else room.shutSince = this.#now() - shutForMs;
      return [];
    });
  }

  #lookAt({ changes, overBefore, rows }: MemoryRoom): number {
    const now = this.#now();
    if (changes > 0 || overBefore !== undefined) return now;
    let soonest = Infinity;
    for (const { dueAt } of rows.after()) {
      soonest = Math.min(soonest, dueAt);
      if (soonest <= now) return now;
    }
    return soonest;
  }

  #toClaim(process: string, claim: Claim): MemoryRoom[] {
    const now = this.#now();
    const isFree = ({ claimedBy, lookAt }: MemoryRoom) => claimedBy === undefined || lookAt <= now;
    if (claim.kind === 'named') {
      const named = claim.rooms.flatMap((room) => this.#all.get(room) ?? []);
      return named.filter((room) => room.claimedBy === process || isFree(room));
    }
    const rooms = [...this.#all.values()].toSorted((one, other) => one.lookAt - other.lookAt);
    if (claim.kind === 'destinations') {
      const isWanted = (room: MemoryRoom) => room.lookAt <= now || (claim.isAnyDue && room.claimedBy === undefined);
      return rooms.filter((room) => room.name !== undefined && isWanted(room)).slice(0, claim.most);
    }
    const except = new Set(claim.exceptAccounts);
    const isExcepted = ({ account }: MemoryRoom) => account !== undefined && except.has(account);
    const others = rooms.filter((room) => room.name === undefined && !isExcepted(room));
    const due = others.filter(({ lookAt }) => lookAt <= now);
    const isChanged = ({ changes, overBefore }: MemoryRoom) => changes > 0 || overBefore !== undefined;
    const isOwn = ({ claimedBy }: MemoryRoom) => claimedBy === process;
    const changed = rooms.filter((room) => isChanged(room) && (isOwn(room) || (!isExcepted(room) && isFree(room))));
    const open = due.filter(({ shutSince }) => shutSince === undefined).slice(0, claim.open);
    const shut = due.filter(({ shutSince }) => shutSince !== undefined).slice(0, claim.shut);
    return [...new Set([...changed.slice(0, MOST_CHANGED), ...open, ...shut])];
  }

  #describe({ room, name, account, shutSince, changes, overBefore, crashes }: MemoryRoom): ClaimedRoom {
    return {
      room,
      changes,
      crashes,
      ...(name === undefined ? {} : { name }),
      ...(account === undefined ? {} : { account }),
      ...(shutSince === undefined ? {} : { shutForMs: this.#now() - shutSince }),
      ...(overBefore === undefined ? {} : { overBefore }),
    };
  }
}
