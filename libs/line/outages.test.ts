import { expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import fc from 'fast-check';
import { type Fate, type Handler, noResult } from './messages.ts';
import { runStep, type Step } from './run-step.ts';
import { MemoryBroker } from './testing/memory-broker.ts';
import { goOn, MemoryLink } from './testing/memory-link.ts';
import { smallTopology } from './testing/test-broker.ts';
import { deactivatorQueue, endsExchange, LANES } from './topology.ts';

const [name] = LANES.deactivator;
const A_GOOD_WHILE_MS = 200_000;

type Draw = (count: number) => number;

/** A step whose dependency, and whose broker, come and go while it handles messages. */
class Tossed {
  readonly #draw: Draw;
  readonly #clock = new TurnedClock();
  readonly #broker = new MemoryBroker(smallTopology, this.#clock);
  readonly #link = new MemoryLink(this.#broker);
  readonly #running;
  #isAway = false;
  #isCalm = false;

  constructor(draw: Draw) {
    this.#draw = (count) => (this.#isCalm ? 0 : draw(count));
    const step: Step<string> = {
      name,
      queues: [deactivatorQueue],
      inHandLimit: { messages: 10, bytes: 1_000 },
      drainsWhileBlocked: draw(2) === 1,
      gathering: { largest: 3, atOnce: 1 + draw(2), afterMs: 100 * draw(2) },
      parse: ({ body }) => body.toString(),
      handle: this.#handle,
      describe: () => ({}),
    };
    const metrics = createMetrics('test');
    this.#running = runStep(step, { broker: this.#link.asBroker, log, metrics, clock: this.#clock });
  }

  async move(): Promise<void> {
    const moves: (() => unknown)[] = [
      () => (this.#isAway = true),
      () => (this.#isAway = false),
      () => this.#link.becomes('blocked'),
      () => this.#link.becomes('away'),
      () => this.#link.becomes('writable'),
      // Effects of timers in one turn of the event loop.
      () => Array.from({ length: 6 }, () => this.#clock.step()),
      () => this.#pass(60),
      () => this.#pass(11_000),
      () => Array.from({ length: 4 }, () => this.#put()),
    ];
    await moves[this.#draw(moves.length)]?.();
    await settled();
  }

  /** Lets everything work; returns how many messages are left a good while later, and what the step waits for. */
  async calm() {
    [this.#isAway, this.#isCalm] = [false, true];
    this.#link.becomes('writable');
    await this.#pass(A_GOOD_WHILE_MS);
    const left = this.#broker.kept(deactivatorQueue).length + this.#link.held;
    return { left, waitsFor: this.#running.waitingFor() };
  }

  #put(): void {
    this.#broker.publish({ kind: 'publish', exchange: endsExchange, routingKey: '', body: Buffer.from('{}') });
  }

  async #pass(ms: number): Promise<void> {
    const end = this.#clock.now() + ms;
    // A change may cause further effects.
    await settled();
    while (await goOn({ clock: this.#clock, links: [this.#link], end }));
    this.#clock.skipTo(end);
  }

  readonly #handle: Handler<string> = async () => {
    if (this.#draw(3) === 1) await this.#clock.sleep(this.#draw(200));
    if (this.#isAway) throw this.#away();
    return (_, end) => {
      if (this.#draw(2) === 0) end(this.#fate());
      else this.#clock.after(this.#draw(300), () => end(this.#fate()));
    };
  };

  #fate(): Fate {
    if (this.#isAway || this.#draw(5) === 3) return noResult(this.#away());
    return this.#draw(9) === 5 ? { kind: 'failed', error: new Error('a bug') } : { kind: 'done', caused: [] };
  }

  #away(): Unavailable {
    return new Unavailable('postgres', async () => {
      if (this.#isAway) throw new Error('it is away');
    });
  }
}

test('a step goes on once all that it needs is there, in whatever order that went and came', async () => {
  const goesOn = fc.asyncProperty(fc.array(fc.nat(), { minLength: 60, maxLength: 60 }), async (draws) => {
    let at = 0;
    const tossed = new Tossed((count) => (draws[at++ % draws.length] ?? 0) % count);
    for (let moves = 0; moves < 40; moves += 1) await tossed.move();
    expect(await tossed.calm()).toEqual({ left: 0, waitsFor: [] });
  });
  await fc.assert(goesOn, { numRuns: 300 });
});
