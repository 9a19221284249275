import type { Source } from '@waybell/line/messages';
import { CLAIM_MS } from '@waybell/line/waiting-room/waiting-store';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Admission, GrantedRequest, TooMuch } from '../flow/endpoint.ts';
import type { DeliveryTarget } from '../find-target.ts';
import { aRow, aTarget, roomOf, SomeDeliverers, type ADeliverer } from './waiting.ts';

/** How an endpoint answers for a time: `hangs` answers nothing before that is over. */
export type Answer = 'quick' | 'slow' | 'hangs' | 'too much';
export type EndpointPlan = {
  account: number;
  limitMs: number;
  /** For how long its room was shut when all began. */
  shutForMs?: number | undefined;
  answers: readonly { is: Answer; forMs: number }[];
  /** A 429 asks for it. */
  askedMs?: number | undefined;
};

/** An event in the world, to one endpoint (`to`) or to one deliverer (`to`). */
export type Happening =
  | { kind: 'rows'; to: number; ages: readonly number[]; dueMs: number }
  | { kind: 'asks'; to: number; by: number; origin: Origin; count: number }
  | { kind: 'freezes'; to: number; forMs: number }
  | { kind: 'blocked'; to: number; forMs: number }
  | { kind: 'away'; forMs: number }
  | { kind: 'late'; lateMs: number; forMs: number }
  | { kind: 'stops' | 'dies'; to: number }
  | { kind: 'starts' };
export type Origin = 'fresh' | 'retry' | 'by hand';
export type WorldPlan = {
  slots: number;
  deliverers: number;
  endpoints: readonly EndpointPlan[];
  happens: readonly { afterMs: number; what: Happening }[];
};

type Endpoint = EndpointPlan & { target: DeliveryTarget; room: string };
type Delivery = { name: string; endpoint: Endpoint; madeAt: number };
/** A delivery that one has in hand out of a queue: another gets it where that one dies. */
type FromQueue = { delivery: Delivery; by: ADeliverer; origin: Origin; isOver: boolean };
type Request = { room: string; beganAt: number; isUnproven: boolean };

const QUICK_MS = 20;
const SLOW_MS = 1_500;
const RETRY_MS = 4_000;
const WAITING_QUEUE_MS = 30_000;
const REDELIVERY_MS = 1_000;
const STOP_MS = 5_000;
/** Longest without an answer, before a request to a new endpoint is silent. */
const SILENT_MS = 800;

/** Deliverers, endpoints and deliveries to which things happen, until everything is well again. A delivery is over when an attempt of it is answered. */
export class FlowWorld implements AsyncDisposable {
  readonly some = new SomeDeliverers();
  /** Deliveries with the rows that wait for them, by name; and those that an attempt ended. */
  readonly deliveries = new Map<string, Delivery>();
  readonly delivered = new Set<string>();
  /** Seen though it must not be, in words. */
  readonly seen = { outOfOrder: [] as string[], overShares: [] as string[], answeredTwice: [] as string[] };
  /** How many rows were compared with older ones that waited. */
  compared = 0;
  readonly running: ADeliverer[] = [];
  /** All that were not killed. */
  readonly survivors = new Set<ADeliverer>();
  /** Since when a row waits, free and due. Absent for one that was put more than once. */
  readonly #freeSince = new Map<string, number>();
  /** Deliveries that asked for a slot, and who was asked. */
  readonly #asking = new Set<{ name: string; one: ADeliverer }>();
  readonly #fromQueue = new Set<FromQueue>();
  readonly #requests = new Map<ADeliverer, Set<Request>>();
  readonly #proven = new Map<ADeliverer, Set<string>>();
  readonly #endpoints: Endpoint[];
  readonly #plan: WorldPlan;
  #isWell = false;
  /** Store and processes were on time so far. */
  #isOnTime = true;

  constructor(plan: WorldPlan) {
    this.#plan = plan;
    this.#endpoints = plan.endpoints.map((each, place) => {
      const account = `0b9c2f6e-7d1f-4e57-8f5e-${String(each.account).padStart(12, '0')}`;
      const target = aTarget(`e${place}`, { account });
      return { ...each, target, room: roomOf(target) };
    });
  }

  get now(): number {
    return this.some.clock.now();
  }

  /** Rows and deliveries that are not over. */
  get left(): string[] {
    return [...this.deliveries.keys()].filter((name) => !this.delivered.has(name));
  }

  /** Has everything happen, then be well for as long as it takes, at most this long. Resolves with how long it took. */
  async live({ wellForMs }: { wellForMs: number }): Promise<number> {
    await this.#shutSome();
    for (let count = 0; count < this.#plan.deliverers; count += 1) this.#start();
    for (const { afterMs, what } of this.#plan.happens) {
      await this.#pass(afterMs);
      await this.#happen(what);
    }
    const wellSince = this.#becomeWell();
    while (this.now < wellSince + wellForMs && !this.#isSettled()) await this.#pass(500);
    return this.now - wellSince;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.some[Symbol.asyncDispose]();
  }

  async #shutSome(): Promise<void> {
    const { store } = this.some;
    for (const endpoint of this.#endpoints) {
      const { shutForMs, room } = endpoint;
      if (shutForMs === undefined) continue;
      // An empty room is deleted, and would not stay shut.
      for (const madeAt of [1, 2, 3]) await this.#putRow(this.#make(endpoint, madeAt), 0);
      await store.claim({ kind: 'named', rooms: [room] });
      await store.release([{ room, afterMs: 1_000, shutForMs }]);
    }
  }

  /** Lets time pass, and looks at what all hold. */
  async #pass(ms: number): Promise<void> {
    const end = this.now + ms;
    while (this.now < end) {
      await this.some.clock.runFor(Math.min(500, end - this.now));
      this.#look();
    }
  }

  #look(): void {
    for (const one of this.survivors) {
      if (!one.isFrozen) for (const name of one.inHand) this.some.uses(name, one);
      this.#lookAtSlots(one);
      for (const { delivery } of one.published.splice(0)) {
        const waiting = this.deliveries.get(delivery?.guid ?? '');
        if (waiting !== undefined) this.some.clock.after(WAITING_QUEUE_MS, () => void this.#comeAgain(waiting));
      }
    }
  }

  #lookAtSlots(one: ADeliverer): void {
    const { slots } = this.#plan;
    const { hung, new: fresh, slow, quick } = one.flow.endpoints.figures().slots;
    const requests = [...(this.#requests.get(one) ?? [])];
    const unproven = requests.filter(({ isUnproven, beganAt }) => isUnproven && this.now - beganAt <= SILENT_MS).length;
    const atMost = (what: string, used: number, share: number) => {
      if (used > Math.max(1, Math.floor(slots * share))) this.seen.overShares.push(`${used} of ${slots} for ${what}`);
    };
    atMost('hung', hung, 0.1);
    atMost('hung and new', Math.max(hung + fresh, unproven), 0.2);
    atMost('hung, new and slow', hung + fresh + slow, 0.5);
    atMost('all', Math.max(hung + fresh + slow + quick, requests.length), 1);
  }

  /** Deliveries that asked for a slot and were told nothing. */
  get unanswered(): string[] {
    return [...this.#asking].filter(({ one }) => this.survivors.has(one)).map(({ name }) => name);
  }

  #isSettled(): boolean {
    return this.left.length + this.unanswered.length + this.held().length === 0;
  }

  /** All that is still held: slots, deliveries in hand, claims, rooms. */
  held(): string[] {
    const held = this.#endpoints.flatMap(({ room }, place) => (this.some.waiting.room(room) ? [`room ${place}`] : []));
    for (const [place, one] of this.some.all.entries()) {
      if (!this.survivors.has(one)) continue;
      const { slots, inHand } = one.flow.endpoints.figures();
      const figures = { ...slots, waits: inHand, rows: one.consumer.inHand(), claims: one.flow.figures().claimed };
      for (const [what, count] of Object.entries(figures)) if (count !== 0) held.push(`${what} of ${place}: ${count}`);
    }
    return held;
  }

  /** How many of all slots those that live could not use now, if so many endpoints that answer quickly were called. */
  lost(): string[] {
    const { slots } = this.#plan;
    const keys = Array.from({ length: slots }, (_, at) => ({ account: `a${at}`, endpoint: `e${at}`, host: `h${at}` }));
    return this.running.flatMap(({ flow }, place) => {
      const granted: GrantedRequest[] = [];
      for (const key of keys) flow.admit(key, 'suspect', (each) => each.kind === 'granted' && each.end('quick'));
      for (const key of keys) flow.admit(key, 'suspect', (each) => each.kind === 'granted' && granted.push(each));
      for (const each of granted) each.end('quick');
      return granted.length === slots ? [] : [`${granted.length} of the ${slots} slots of ${place} can be used`];
    });
  }

  async #happen(what: Happening): Promise<void> {
    const { some } = this;
    switch (what.kind) {
      case 'rows':
        for (const age of what.ages)
          await this.#putRow(this.#make(this.#at(what.to), 1_000_000 - age), what.dueMs).catch(ignoreAway);
        return;
      case 'asks':
        for (let count = 0; count < what.count; count += 1)
          this.#ask(this.#make(this.#at(what.to), this.now + 1_000_000), what.origin, what.by);
        return;
      case 'freezes':
        return this.#toOne(what.to, (one) => {
          one.isFrozen = true;
          this.#isOnTime = false;
          some.clock.after(what.forMs, () => this.survivors.has(one) && (one.isFrozen = false));
        });
      case 'blocked':
        return this.#toOne(what.to, (one) => {
          one.become('blocked');
          some.clock.after(what.forMs, () => one.become('writable'));
        });
      case 'away':
        some.waiting.isAway = true;
        some.clock.after(what.forMs, () => (some.waiting.isAway = false));
        return;
      case 'late':
        some.lateMs = what.lateMs;
        this.#isOnTime = false;
        some.clock.after(what.forMs, () => (some.lateMs = 0));
        return;
      case 'stops':
        return this.#toOne(what.to, (one) => void this.#stop(one));
      case 'dies':
        return this.#toOne(what.to, (one) => this.#kill(one));
      case 'starts':
        if (this.running.length < 3) this.#start();
    }
  }

  #becomeWell(): number {
    this.#isWell = true;
    this.some.waiting.isAway = false;
    this.some.lateMs = 0;
    for (const one of this.survivors) {
      one.isFrozen = false;
      one.become('writable');
    }
    if (this.running.length === 0) this.#start();
    return this.now;
  }

  #at(place: number): Endpoint | undefined {
    return this.#endpoints[place % this.#endpoints.length];
  }

  #toOne(place: number, change: (one: ADeliverer) => void): void {
    const one = this.running[place % Math.max(1, this.running.length)];
    if (one !== undefined) change(one);
  }

  #start(): void {
    const one = this.some.start({ handle: (source, name) => this.#taken(one, source, name), slots: this.#plan.slots });
    this.running.push(one);
    this.survivors.add(one);
    this.#requests.set(one, new Set());
    this.#proven.set(one, new Set());
  }

  #leave(one: ADeliverer): void {
    const place = this.running.indexOf(one);
    if (place >= 0) this.running.splice(place, 1);
  }

  /** As a process ends that is told to: it finishes what it has in hand, and then releases its rooms. */
  async #stop(one: ADeliverer): Promise<void> {
    this.#leave(one);
    await one.consumer.pause('closing');
    one.flow[Symbol.dispose]();
    for (let waitedMs = 0; waitedMs < STOP_MS && one.consumer.inHand() > 0; waitedMs += 100) await one.clock.sleep(100);
    await one.stop();
    if (one.consumer.inHand() > 0) this.#end(one);
  }

  #kill(one: ADeliverer): void {
    this.some.clock.after(CLAIM_MS, () => (this.some.living -= 1));
    this.#end(one);
  }

  #end(one: ADeliverer): void {
    this.#leave(one);
    one.isFrozen = true;
    this.survivors.delete(one);
    for (const asked of this.#fromQueue) if (asked.by === one) this.#redeliver(asked);
  }

  #make(endpoint: Endpoint | undefined, madeAt: number, name = `${this.deliveries.size}`): Delivery {
    if (endpoint === undefined) throw new Error('no such endpoint');
    const delivery = { name, endpoint, madeAt };
    this.deliveries.set(name, delivery);
    return delivery;
  }

  /** Puts a row as another deliverer does. A delivery that cannot be put is no more. */
  async #putRow(delivery: Delivery, dueMs: number): Promise<void> {
    this.deliveries.delete(delivery.name);
    await this.some.store.put([this.#rowOf(delivery, dueMs === 0 ? {} : { afterMs: dueMs })]);
    this.deliveries.set(delivery.name, delivery);
    this.#freeSince.set(delivery.name, this.now + dueMs);
  }

  #rowOf({ name, endpoint, madeAt }: Delivery, what: Parameters<typeof aRow>[1] = {}): ReturnType<typeof aRow> {
    return aRow(name, { ...what, to: endpoint.target, madeAt });
  }

  #taken(one: ADeliverer, source: Source, name: string): void {
    const delivery = this.deliveries.get(name);
    if (delivery === undefined) throw new Error(`${name} was never put`);
    this.#lookAtOrder(delivery);
    this.#freeSince.delete(name);
    const isOwn = () => one.holds(name) && one.taken.get(name) === source;
    this.#admit(one, delivery, 'waited', {
      isInHand: isOwn,
      end: () => {
        this.some.uses(name, one);
        one.acknowledge(source);
      },
      giveBack: () => isOwn() && one.giveBack(source),
    });
  }

  /** Older rows of the room were taken before, unless they came since it was last read from its first row. */
  #lookAtOrder({ endpoint, madeAt, name }: Delivery): void {
    if (!this.#isOnTime) return;
    for (const [other, since] of this.#freeSince) {
      const row = this.deliveries.get(other);
      if (row?.endpoint !== endpoint || since > this.now - FOUND_MS) continue;
      this.compared += 1;
      if (row.madeAt < madeAt || (row.madeAt === madeAt && `${other} 1` < `${name} 1`))
        this.seen.outOfOrder.push(`${name} at ${this.now} before ${other}, there since ${since}`);
    }
  }

  #ask(delivery: Delivery, origin: Origin, by = 0): void {
    const able = this.running.filter((one) => !one.isFrozen);
    const one = able[by % Math.max(1, able.length)];
    if (one === undefined) return void this.some.clock.after(REDELIVERY_MS, () => this.#ask(delivery, origin, by));
    const asked: FromQueue = { delivery, by: one, origin, isOver: false };
    this.#fromQueue.add(asked);
    this.#admit(one, delivery, origin, {
      isInHand: () => !asked.isOver,
      end: () => this.#forget(asked),
      giveBack: () => this.#redeliver(asked),
    });
  }

  #forget(asked: FromQueue): void {
    asked.isOver = true;
    this.#fromQueue.delete(asked);
  }

  #redeliver(asked: FromQueue): void {
    if (asked.isOver) return;
    this.#forget(asked);
    this.some.clock.after(REDELIVERY_MS, () => this.#ask(asked.delivery, asked.origin));
  }

  /** Out of the waiting queue: nothing to do where it waits in its room by now. */
  async #comeAgain(delivery: Delivery): Promise<void> {
    if (this.delivered.has(delivery.name)) return;
    const one = this.running.find((each) => !each.isFrozen);
    const { room, madeAt, id } = this.#rowOf(delivery);
    if (one !== undefined && (await one.flow.rules.retain({ room, madeAt, id }))) return;
    this.#freeSince.delete(delivery.name);
    this.#ask(delivery, 'fresh');
  }

  #admit(one: ADeliverer, delivery: Delivery, origin: Origin | 'waited', how: InHand): void {
    const { account } = delivery.endpoint.target;
    const { room } = delivery.endpoint;
    const asking = { name: delivery.name, one };
    this.#asking.add(asking);
    one.flow.admit({ account, endpoint: room, host: room }, origin, (admission) => {
      if (!this.#asking.delete(asking)) this.seen.answeredTwice.push(delivery.name);
      if (admission.kind === 'full') return void this.#waitAgain(one, delivery, admission, how);
      if (how.isInHand()) this.#send(one, delivery, admission, how);
      else admission.end('unused');
    });
  }

  async #waitAgain(
    one: ADeliverer,
    delivery: Delivery,
    { why }: Exclude<Admission, GrantedRequest>,
    how: InHand,
  ): Promise<void> {
    try {
      await one.flow.tools.putDelivery({ kind: 'wait', row: this.#rowOf(delivery, { why }) });
      if (how.isInHand()) how.end();
    } catch (error) {
      ignoreAway(error);
      how.giveBack();
    }
  }

  #send(one: ADeliverer, delivery: Delivery, granted: GrantedRequest, how: InHand): void {
    const { endpoint, name } = delivery;
    const { room, askedMs } = endpoint;
    const { is, afterMs } = this.#answerOf(endpoint);
    const request = { room, beganAt: this.now, isUnproven: this.#proven.get(one)?.has(room) === false };
    this.#requests.get(one)?.add(request);
    this.#lookAtSlots(one);
    one.clock.after(afterMs, () => {
      this.#requests.get(one)?.delete(request);
      if (is !== 'hangs') this.#proven.get(one)?.add(room);
      const tooMuch: TooMuch = { ...(askedMs !== undefined && { askedMs }), retryMs: RETRY_MS };
      granted.end(is === 'hangs' ? 'hung' : is === 'slow' ? 'slow' : 'quick', is === 'too much' ? tooMuch : undefined);
      this.#lookAtSlots(one);
      if (!how.isInHand()) return;
      if (is === 'quick' || is === 'slow') this.delivered.add(name);
      else this.#retry(delivery);
      how.end();
    });
  }

  /** A later attempt is a delivery of its own here, as its row is. */
  #retry({ name, endpoint, madeAt }: Delivery): void {
    const [first = '', attempt = '1'] = name.split('#');
    this.delivered.add(name);
    const next = this.#make(endpoint, madeAt, `${first}#${Number(attempt) + 1}`);
    this.some.clock.after(RETRY_MS, () => this.#ask(next, 'retry', Number(first)));
  }

  /** How a request is answered that begins now. */
  #answerOf({ answers, limitMs }: Endpoint): { is: Answer; afterMs: number } {
    let until = 0;
    const now = this.#isWell ? undefined : answers.find(({ forMs }) => (until += forMs) > this.now);
    const { is } = now ?? { is: 'quick' };
    if (is === 'slow') return { is, afterMs: SLOW_MS };
    if (is !== 'hangs') return { is, afterMs: QUICK_MS };
    const leftMs = until - this.now;
    return leftMs >= limitMs
      ? { is, afterMs: limitMs }
      : { is: leftMs > SILENT_MS ? 'slow' : 'quick', afterMs: leftMs };
  }
}

/** A delivery in hand. `end`: what it caused is safe. */
type InHand = { isInHand: () => boolean; end: () => void; giveBack: () => void };

/** A row that came before those read last is found after this long, as all are read from the first row again by then. */
const FOUND_MS = 2_100;

function ignoreAway(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}
