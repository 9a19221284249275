import { count, readEnvironment } from '@waybell/runtime/environment';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { EndpointKey, RequestOrigin } from '@waybell/deliverer/flow/endpoint';
import { endpointSettings, readEndpoints } from '@waybell/deliverer/config';
import { EndpointsAlone } from '@waybell/deliverer/testing/endpoints';

const SLOTS = 1_024;
const HELD = 1_024;
const SLOW_MS = 1_000;
/** Rooms are read at this interval, in addition to `onCapacity` and `demand`. */
const POLL_MS = 5_000;
/** `answerMs`: how long a request takes that begins at this time; it times out at the limit. */
export type Arriving = { key: EndpointKey; kind: string; limitMs: number; answerMs: (at: number) => number };

type Due = Arriving & { dueAt: number; beganAt?: number };

/** Results of some deliveries. `late`: attempts that began later than allowed. */
export type Lateness = { due: number; unattempted: number; late: number };

/**
 * The admission alone, with the default settings: deliveries that ask for a request, rooms in memory for those that are refused, and
 * receivers that are numbers. A delivery waits here for the requests of others, and for nothing else.
 */
export class SimulatedAdmission {
  readonly #clock = new TurnedClock();
  readonly #endpoints: EndpointsAlone;
  readonly #rooms = new Map<string, { key: EndpointKey; rows: Due[] }>();
  readonly #arrived: Due[] = [];

  constructor() {
    const slots = { DELIVER_SLOTS: count({ per: 'process', default: SLOTS }) };
    this.#endpoints = new EndpointsAlone({
      ...readEndpoints(readEnvironment({ ...slots, ...endpointSettings }, {}), HELD),
      clock: this.#clock,
      onCapacity: (endpoint) => this.#take(endpoint),
    });
    this.every(POLL_MS, () => {
      for (const endpoint of this.#rooms.keys()) this.#take(endpoint);
    });
  }

  /** Runs `act` at this interval; `turn` counts from 0. */
  every(ms: number, act: (turn: number) => void, turn = 0): void {
    this.#clock.after(ms, () => {
      act(turn);
      this.every(ms, act, turn + 1);
    });
  }

  /** A delivery is due now. */
  arrive(arriving: Arriving): void {
    const due = { ...arriving, dueAt: this.#clock.now() };
    this.#arrived.push(due);
    this.#attempt(due, 'fresh');
  }

  /** Lets time pass. */
  async run(ms: number): Promise<void> {
    await this.#clock.runFor(ms);
  }

  /** Measures deliveries of a kind that were due between two times, in milliseconds from the beginning. */
  lateness(kind: string, { from, until, mayWaitMs }: { from: number; until: number; mayWaitMs: number }): Lateness {
    const due = this.#arrived.filter((each) => each.kind === kind && each.dueAt >= from && each.dueAt < until);
    const waits = due.flatMap(({ dueAt, beganAt }) => (beganAt === undefined ? [] : [beganAt - dueAt]));
    const late = waits.filter((wait) => wait > mayWaitMs);
    return { due: due.length, unattempted: due.length - waits.length, late: late.length };
  }

  #attempt(due: Due, origin: RequestOrigin): void {
    this.#endpoints.admit(due.key, origin, (admission) => {
      if (admission.kind === 'full') return this.#wait(due);
      due.beganAt = this.#clock.now();
      const durationMs = Math.min(due.answerMs(due.beganAt), due.limitMs);
      const speed = durationMs === due.limitMs ? 'hung' : durationMs > SLOW_MS ? 'slow' : 'quick';
      this.#clock.after(durationMs, () => admission.end(speed));
    });
  }

  #wait(due: Due): void {
    const { key } = due;
    const room = this.#rooms.get(key.endpoint);
    if (room === undefined) this.#rooms.set(key.endpoint, { key, rows: [due] });
    else room.rows.push(due);
  }

  #take(endpoint: string): void {
    const room = this.#rooms.get(endpoint);
    if (room === undefined) return;
    const { rows, askAt } = this.#endpoints.does((state) => state.demand(room.key));
    const taken = room.rows.splice(0, rows);
    if (room.rows.length === 0) this.#rooms.delete(endpoint);
    else if (askAt !== undefined) this.#clock.after(askAt - this.#clock.now(), () => this.#take(endpoint));
    for (const due of taken) this.#attempt(due, 'waited');
  }
}
