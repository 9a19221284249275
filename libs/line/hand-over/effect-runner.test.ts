import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import {
  newSourceId,
  type Begin,
  type End,
  type Message,
  type OnSettled,
  type PublishError,
  type Source,
  Unconfirmed,
} from '../messages.ts';
import type { Once } from '../once.ts';
import { StepReport } from '../step-report.ts';
import { MemoryBroker } from '../testing/memory-broker.ts';
import { MemoryLink } from '../testing/memory-link.ts';
import { delivery, FAILED, textOf } from '../testing/told-step.ts';
import { EffectRunner, SeenReturns } from './effect-runner.ts';
import type { Lane } from './suspicion.ts';

const metrics = createMetrics('test');
const AWAY = new Unavailable('postgres', () => Promise.resolve());

function messageOf(text: string): Message {
  return { queue: 'q', exchange: 'e', routingKey: 'k', body: Buffer.from(text), deliveryCount: 0, failures: 0 };
}

const ONCE = {
  keyOf: (text: string) => ({ key: text.split(' ').at(-1) ?? '', fingerprint: '' }),
  ttlMs: 1,
  onRepeat: () => [],
  isWorthRemembering: () => true,
};

/** Runs a step whose messages are their texts, and writes down what it has others do. */
class Running {
  readonly told: string[] = [];
  /** Functions that end a message that was begun. */
  readonly ends = new Map<string, End>();
  readonly runner: EffectRunner<string>;
  /** The handler's query for a batch, before anything is begun. */
  ask: (texts: readonly string[]) => Promise<void> = () => Promise.resolve();
  recall: Once['recall'] = async (keys) => keys.map(() => undefined);
  begin: (text: string, end: End) => void = (text, end) => void this.ends.set(text, end);
  /** Sources whose claims are over, of which no timer has told yet. */
  readonly overdue: Source[] = [];
  readonly clock = new TurnedClock();
  #toConfirm: OnSettled[] = [];
  #isInHand: (text: string) => boolean = () => false;

  /** A message's key is the last word of its text, if the step recognises repeats. */
  constructor({ recalls = true } = {}) {
    const { clock } = this;
    const link = new MemoryLink(new MemoryBroker({ exchanges: [], queues: [] }, clock));
    const step = {
      name: 'step',
      hasLane: true,
      parse: ({ body }: Message) => body.toString(),
      describe: () => ({}),
      ...(recalls && { once: ONCE }),
    };
    this.runner = new EffectRunner(
      { ...step, handle: (texts, isInHand) => this.#handle(texts, isInHand) },
      {
        clock,
        report: new StepReport(step, { log, metrics, inHand: () => 0 }),
        broker: {
          ...link.asBroker,
          send: (publication, onSettled) => {
            this.told.push(`publish ${textOf(publication)}`);
            this.#toConfirm.push((error) => onSettled(error));
          },
        },
        once: {
          recall: (keys) => {
            this.told.push(`recall ${keys.join()}`);
            return this.recall(keys);
          },
          remember: async (marks) => void this.told.push(`remember ${marks.map(({ key }) => key).join()}`),
        },
        expireClaims: () => {
          for (const source of this.overdue.splice(0)) this.cut(source);
        },
        onUnavailable: ({ dependency }) => void this.told.push(`${dependency} is away`),
        onRedelivered: (isInHand) => void this.told.push(isInHand ? 'what came again is in hand' : 'it is gone'),
      },
    );
  }

  /** Returns the effects since the last call. */
  async said(): Promise<string[]> {
    for (let turns = 0; turns < 3; turns += 1) await settled();
    return this.told.splice(0);
  }

  take(text: string, lane: Lane = 'queue', how: Partial<Message> = {}): Source {
    const source = {
      id: newSourceId(),
      messages: [{ ...messageOf(text), ...how }],
      acknowledge: () => void this.told.push(`acknowledge ${text}`),
      giveBack: () => void this.told.push(`give back ${text}`),
    };
    this.runner.taking(lane).onTaken(source);
    return source;
  }

  /** Lets messages come in one turn, and be begun. */
  async begun(...texts: string[]): Promise<void> {
    for (const text of texts) this.take(text);
    await this.said();
  }

  cut(source: Source): void {
    this.runner.taking('queue').onCut(source);
  }

  end(...texts: string[]): void {
    for (const text of texts) this.ends.get(text)?.({ kind: 'done', caused: [delivery(`of ${text}`)] });
  }

  /** Whether a request may begin for it. */
  isInHand(text: string): boolean {
    return this.#isInHand(text);
  }

  settle(error?: PublishError): void {
    for (const onSettled of this.#toConfirm.splice(0)) onSettled(error);
  }

  confirm(): void {
    this.settle();
  }

  async #handle(texts: readonly string[], isInHand: (place: number) => boolean): Promise<Begin> {
    this.told.push(`ask ${texts.join()}`);
    this.#isInHand = (text) => isInHand(texts.indexOf(text));
    await this.ask(texts);
    return (place, end) => {
      const text = texts[place] ?? '';
      this.told.push(`begin ${text}`);
      this.begin(text, end);
    };
  }
}

const throwsFor = (wrong: string) => async (texts: readonly string[]) => {
  if (texts.includes(wrong)) throw new Error('a bug');
};

describe('what comes in one turn of the event loop', () => {
  test('is one recall, one run, one publish, one command to remember, and is acknowledged at once', async () => {
    const step = new Running();
    for (const text of ['one', 'two', 'three']) step.take(text);
    expect(await step.said()).toEqual([
      'recall one,two,three',
      'ask one,two,three',
      'begin one',
      'begin two',
      'begin three',
    ]);
    step.end('one', 'two', 'three');
    expect(await step.said()).toEqual(['publish deliveries of one,of two,of three']);
    step.confirm();
    expect(await step.said()).toEqual([
      'remember one,two,three',
      'acknowledge one',
      'acknowledge two',
      'acknowledge three',
    ]);
    expect(step.runner.inHand).toBe(0);
  });

  test('is not handled where it was taken back in that turn, and once where it comes again', async () => {
    const step = new Running();
    step.cut(step.take('one'));
    step.take('one');
    expect(await step.said()).toEqual(['recall one', 'ask one', 'begin one']);
    step.end('one');
    await step.said();
    step.confirm();
    expect(await step.said()).toEqual(['remember one', 'acknowledge one']);
    expect(step.runner.inHand).toBe(0);
  });
});

describe('what ends', () => {
  test('in one turn of the event loop leaves together, and what ends in the next leaves by itself', async () => {
    const step = new Running();
    await step.begun('one', 'two', 'three');
    step.end('one');
    // Like another socket, later in the same turn.
    process.nextTick(() => step.end('two'));
    expect(await step.said()).toEqual(['publish deliveries of one,of two']);
    step.end('three');
    expect(await step.said()).toEqual(['publish deliveries of three']);
    step.confirm();
    const acknowledged = ['one', 'two', 'three'].map((text) => `acknowledge ${text}`);
    expect(await step.said()).toEqual(['remember one,two,three', ...acknowledged]);
  });

  test('for want of what is away waits for it, also where that is back in the same turn', async () => {
    const step = new Running();
    await step.begun('one', 'two');
    step.ends.get('one')?.({ kind: 'away', error: AWAY });
    expect(await step.said()).toEqual(['postgres is away']);
    step.ends.get('two')?.({ kind: 'away', error: AWAY });
    step.runner.apply({ kind: 'back' });
    const again = ['recall one,two', 'ask one,two', 'begin one', 'begin two'];
    expect(await step.said()).toEqual(['postgres is away', ...again]);
  });

  test('just before the step gives back what is at work is not given back', async () => {
    const step = new Running();
    await step.begun('one', 'two');
    step.runner.apply({ kind: 'closing' });
    step.end('one');
    expect(step.runner.cut()).toBe(1);
    expect(await step.said()).toEqual(['publish deliveries of one', 'give back two']);
  });

  test('and is ended again counts once', async () => {
    const step = new Running();
    await step.begun('one');
    step.end('one', 'one');
    step.ends.get('one')?.(FAILED);
    expect(await step.said()).toEqual(['publish deliveries of one']);
    step.ends.get('one')?.(FAILED);
    step.confirm();
    expect(await step.said()).toEqual(['remember one', 'acknowledge one']);
  });

  test('and then throws has ended', async () => {
    const step = new Running();
    step.begin = (_, end) => {
      end({ kind: 'done', caused: [] });
      throw new Error('a bug');
    };
    step.take('one');
    expect(await step.said()).toEqual(['recall one', 'ask one', 'begin one', 'remember one', 'acknowledge one']);
  });
});

describe('a batch', () => {
  test('whose handler rejects is halved until the guilty one is alone, and nothing is begun twice', async () => {
    const step = new Running();
    step.ask = throwsFor('bad');
    for (const text of ['one', 'two', 'bad', 'four']) step.take(text);
    expect(await step.said()).toEqual([
      'recall one,two,bad,four',
      'ask one,two,bad,four',
      'recall one,two',
      'ask one,two',
      'begin one',
      'begin two',
      'recall bad,four',
      'ask bad,four',
      'recall bad',
      'ask bad',
      'publish suspect bad',
      'recall four',
      'ask four',
      'begin four',
    ]);
  });

  test('of which one cannot be begun goes on with the others', async () => {
    const step = new Running();
    step.begin = (text, end) => {
      if (text === 'bad') throw new Error('a bug');
      step.ends.set(text, end);
    };
    for (const text of ['one', 'bad', 'three']) step.take(text);
    expect(await step.said()).toEqual([
      'recall one,bad,three',
      'ask one,bad,three',
      'begin one',
      'begin bad',
      'begin three',
      'publish suspect bad',
    ]);
    step.end('one', 'three');
    expect(await step.said()).toEqual(['publish deliveries of one,of three']);
  });

  test('that needs what is away waits as a whole, and runs again as a whole', async () => {
    const step = new Running();
    step.ask = () => Promise.reject(AWAY);
    for (const text of ['one', 'two']) step.take(text);
    expect(await step.said()).toEqual(['recall one,two', 'ask one,two', 'postgres is away']);
    step.ask = () => Promise.resolve();
    step.runner.apply({ kind: 'back' });
    expect(await step.said()).toEqual(['recall one,two', 'ask one,two', 'begin one', 'begin two']);
  });

  test('is not asked for where it was given back while it waited for its turn', async () => {
    const step = new Running();
    const answer = Promise.withResolvers<void>();
    step.ask = () => answer.promise;
    await step.begun('one');
    step.take('two');
    expect(await step.said()).toEqual([]);
    step.runner.apply({ kind: 'closing' });
    expect(step.runner.cut()).toBe(2);
    answer.resolve();
    expect(await step.said()).toEqual(['give back one', 'give back two']);
  });

  test('is not begun once the step has given it back at the end, though the handler still answers', async () => {
    const step = new Running();
    const answer = Promise.withResolvers<void>();
    step.ask = () => answer.promise;
    step.take('one', 'suspects');
    await step.said();
    step.runner.apply({ kind: 'closing' });
    expect(step.runner.cut()).toBe(1);
    answer.resolve();
    expect(await step.said()).toEqual(['publish suspect one']);
    step.confirm();
    expect(await step.said()).toEqual(['acknowledge one']);
  });
});

describe('the recall of a batch', () => {
  const KNOWN: Once['recall'] = async (keys) => keys.map((key) => (key === 'known' ? '' : undefined));
  /** Takes all, and has the handler ask, before the recall is answered. */
  const recalling = async ({ ask }: Partial<Pick<Running, 'ask'>>, ...texts: string[]) => {
    const step = new Running();
    const answer = Promise.withResolvers<void>();
    if (ask !== undefined) step.ask = ask;
    step.recall = async (keys) => {
      await answer.promise;
      return KNOWN(keys);
    };
    for (const text of texts) step.take(text);
    const asked = await step.said();
    return { step, asked, answer: answer.resolve };
  };

  test('goes on beside the query, and none is begun before its answer', async () => {
    const { step, asked, answer } = await recalling({}, 'known', 'new');
    expect(asked).toEqual(['recall known,new', 'ask known,new']);
    expect(step.runner.inHand).toBe(2);
    answer();
    expect(await step.said()).toEqual(['acknowledge known', 'begin new']);
  });

  test('ends repeats though the query has no answer yet; messages that come meanwhile are the next batch', async () => {
    const step = new Running();
    const answer = Promise.withResolvers<void>();
    step.recall = KNOWN;
    step.ask = () => answer.promise;
    for (const text of ['known', 'new']) step.take(text);
    expect(await step.said()).toEqual(['recall known,new', 'ask known,new', 'acknowledge known']);
    for (const text of ['two', 'three']) step.take(text);
    expect(await step.said()).toEqual([]);
    answer.resolve();
    expect(await step.said()).toEqual(['begin new', 'recall two,three', 'ask two,three', 'begin two', 'begin three']);
  });

  test('counts where what the query needs is away: its repeats end, and only the others wait', async () => {
    const { step, answer } = await recalling({ ask: () => Promise.reject(AWAY) }, 'one', 'known', 'two');
    expect(await step.said()).toEqual([]);
    answer();
    expect(await step.said()).toEqual(['acknowledge known', 'postgres is away']);
    step.ask = () => Promise.resolve();
    step.runner.apply({ kind: 'back' });
    expect(await step.said()).toEqual(['recall one,two', 'ask one,two', 'begin one', 'begin two']);
  });

  test('counts where the query fails: its repeats end, and only the others are halved', async () => {
    const { step, answer } = await recalling({ ask: throwsFor('one') }, 'one', 'known', 'two');
    answer();
    expect(await step.said()).toEqual([
      'acknowledge known',
      'recall one',
      'ask one',
      'publish suspect one',
      'recall two',
      'ask two',
      'begin two',
    ]);
  });

  test('spares what is beside a repeat that fails the query', async () => {
    const { step, answer } = await recalling({ ask: throwsFor('known') }, 'known', 'two');
    answer();
    expect(await step.said()).toEqual(['acknowledge known', 'recall two', 'ask two', 'begin two']);
  });

  test('may have no answer until the step has given all back: nothing is begun or acknowledged any more', async () => {
    const { step, answer } = await recalling({}, 'known', 'new');
    step.runner.apply({ kind: 'closing' });
    expect(step.runner.cut()).toBe(2);
    answer();
    expect(await step.said()).toEqual(['give back known', 'give back new']);
  });

  test('of a twin follows when the first has left', async () => {
    const step = new Running();
    step.take('a key');
    step.take('b key');
    expect(await step.said()).toEqual(['recall key', 'ask a key', 'begin a key']);
    step.recall = async () => [''];
    step.end('a key');
    await step.said();
    step.confirm();
    expect(await step.said()).toEqual([
      'remember key',
      'recall key',
      'ask b key',
      'acknowledge a key',
      'acknowledge b key',
    ]);
  });

  test('is not asked for in a step that recognises no repeats', async () => {
    const step = new Running({ recalls: false });
    step.take('one');
    expect(await step.said()).toEqual(['ask one', 'begin one']);
  });
});

describe('a handler that is about to make a request', () => {
  test('is told whether the message is still in hand: it may have been taken back, or given back at the end', async () => {
    const step = new Running();
    const [one] = [step.take('one'), step.take('two')];
    await step.said();
    expect(['one', 'two'].map((text) => step.isInHand(text))).toEqual([true, true]);
    step.cut(one);
    expect(['one', 'two'].map((text) => step.isInHand(text))).toEqual([false, true]);
    step.ends.get('one')?.(FAILED);
    expect(await step.said()).toEqual([]);
    step.runner.apply({ kind: 'closing' });
    step.runner.cut();
    expect([step.isInHand('two'), step.runner.inHand]).toEqual([false, 0]);
  });
});

describe('a process that stood still', () => {
  const waited = { waited: { room: '', why: 'full' } } as const;

  test('makes no request for a row whose claim ended meanwhile, though no timer has told it', async () => {
    const step = new Running();
    const one = step.take('one', 'queue', waited);
    await step.said();
    step.overdue.push(one);
    expect(step.isInHand('one')).toBe(false);
  });

  test('publishes nothing of such a row, and no more what was to be published again', async () => {
    const step = new Running();
    const [one, two] = [step.take('one', 'queue', waited), step.take('two', 'queue', waited)];
    await step.said();
    step.end('two');
    expect(await step.said()).toEqual(['publish deliveries of two']);
    step.settle(new Unconfirmed('its connection broke'));
    step.end('one');
    step.overdue.push(one, two);
    expect(await step.said()).toEqual([]);
    await step.clock.runFor(1_000);
    expect([await step.said(), step.runner.inHand]).toEqual([[], 0]);
  });

  test('publishes nothing again whose time has come before it is told that the claim has ended', async () => {
    const step = new Running();
    const [one, two] = [step.take('one', 'queue', waited), step.take('two', 'queue', waited)];
    await step.said();
    step.end('one', 'two');
    await step.said();
    step.settle(new Unconfirmed('its connection broke'));
    step.overdue.push(one);
    await step.clock.runFor(1_000);
    expect(await step.said()).toEqual(['publish deliveries of two']);
    step.overdue.push(two);
    step.confirm();
    expect(await step.said()).toEqual(['remember two']);
    expect(step.runner.inHand).toBe(0);
  });
});

describe('what came again', () => {
  test.each<[string, Partial<Message>]>([
    ['from its queue', { deliveryCount: 1 }],
    ['in a batch, and then by itself', { cameBefore: true }],
    ['from a room whose process died', { crashes: 1 }],
  ])('%s is told of while any is in hand', async (_, how) => {
    const step = new Running();
    step.take('new');
    step.take('one', 'queue', how);
    step.take('two', 'queue', how);
    expect(await step.said()).toContain('what came again is in hand');
    step.end('one', 'new');
    await step.said();
    step.confirm();
    expect(await step.said()).not.toContain('it is gone');
    step.end('two');
    await step.said();
    step.confirm();
    expect(await step.said()).toContain('it is gone');
  });

  test('to the suspects lane, or is new, is not told of', async () => {
    const step = new Running();
    step.take('new');
    step.take('suspect', 'suspects', { deliveryCount: 1, crashes: 1 });
    expect(await step.said()).not.toContain('what came again is in hand');
  });
});

function aSource(messageId: string, deliveryCount: number, queue = 'q'): Source & { raw: Message } {
  const raw = { queue, exchange: '', routingKey: '', body: Buffer.alloc(0), messageId, deliveryCount, failures: 0 };
  return { id: newSourceId(), raw, messages: [raw], acknowledge: () => undefined, giveBack: () => undefined };
}

/** How many processes may have died of a message that returned so often. */
function crashesOf(returns: SeenReturns, ...of: Parameters<typeof aSource>): number | undefined {
  const source = aSource(...of);
  returns.countCrashes(source);
  return source.raw.crashes;
}

describe('each return of a message may have been the crash of a process', () => {
  test('except those that this process saw', () => {
    const returns = new SeenReturns();
    expect(crashesOf(returns, 'x', 0)).toBeUndefined();
    expect(crashesOf(returns, 'x', 3)).toBe(3);
    returns.note(aSource('x', 3));
    returns.note(aSource('x', 4));
    expect(crashesOf(returns, 'x', 5)).toBe(3);
    expect(crashesOf(returns, 'y', 5)).toBe(5);
    expect(crashesOf(returns, 'x', 5, 'other queue')).toBe(5);
  });

  test('of what comes under the same name once it is gone, too', () => {
    const returns = new SeenReturns();
    returns.note(aSource('x', 0));
    returns.forget(aSource('x', 1));
    expect(crashesOf(returns, 'x', 1)).toBe(1);
  });

  test('of the oldest of very many, which this process does not remember', () => {
    const returns = new SeenReturns();
    for (let name = 0; name <= 4_096; name += 1) returns.note(aSource(String(name), 0));
    expect(crashesOf(returns, '0', 1)).toBe(1);
    expect(crashesOf(returns, '1', 1)).toBe(0);
  });
});
