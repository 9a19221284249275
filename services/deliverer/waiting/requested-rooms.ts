import { MOST_ROOMS, type ClaimedRooms, type RoomInHand } from './claimed-rooms.ts';

/** Rooms to be claimed by name once that may be: one that is being left, or beyond what this process may have, is claimed later. */
export class RequestedRooms {
  readonly #rooms: ClaimedRooms;
  readonly #names = new Set<string>();
  /** Whether some may be claimed now. */
  isDue = false;

  constructor(rooms: ClaimedRooms) {
    this.#rooms = rooms;
  }

  add(room: string): void {
    this.#names.add(room);
    this.isDue = true;
  }

  /** Checks whether some have become due. */
  look(): void {
    this.isDue ||= this.#names.size > 0;
  }

  /** Resolves with new rooms. */
  async claim({ isPaused }: { isPaused: boolean }): Promise<RoomInHand[]> {
    this.isDue = false;
    for (const room of this.#names) if (this.#rooms.get(room)?.isLeaving === false) this.#names.delete(room);
    const left = isPaused ? 0 : Math.max(0, MOST_ROOMS - this.#rooms.count);
    const rooms = [...this.#names].filter((room) => this.#rooms.get(room) === undefined).slice(0, left);
    if (rooms.length === 0) return [];
    const claimed = await this.#rooms.claim({ kind: 'named', rooms });
    for (const room of rooms) this.#names.delete(room);
    return claimed;
  }
}
