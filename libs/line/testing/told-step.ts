import { Unavailable } from '@waybell/runtime/unavailable';
import {
  Unroutable,
  reject,
  type Ended,
  type Fate,
  type InParts,
  isRejection,
  type Message,
  type NoResult,
  type Outgoing,
  type Publication,
  type Recorded,
  type WaitedFor,
  type Waiting,
} from '../messages.ts';
import { step } from '../hand-over/hand-over.ts';
import { emptyState, type Arrived, type Effect, type Input, type StepRules } from '../hand-over/state.ts';
import type { Lane } from '../hand-over/suspicion.ts';
import { isDeliveryBatch, readMembers } from '../delivery-batch.ts';
import { aDelivery } from './a-delivery.ts';
import { readEnds, readOutcomes } from '../outcome-batch.ts';
import { deliveriesExchange, endsExchange, outcomesExchange, rejectedExchange, suspectsExchange } from '../topology.ts';

const FINGERPRINT = '1';
const AWAY = new Unavailable('postgres', () => Promise.resolve());
export const FAILED = { kind: 'failed', error: new Error('a bug') } satisfies Fate;
/** The result of a handler whose dependency is away. */
export const LACKING = { kind: 'away', error: AWAY } satisfies Fate;

/** A message is its text; the last word is its key. One that is told of as a repeat says so. */
const RULES: StepRules<string> = {
  name: 'step',
  hasLane: true,
  parse({ body }) {
    const text = body.toString();
    return text.startsWith('nonsense') ? reject('nonsense', 'it says so') : text;
  },
  once: {
    keyOf: (text) => ({ key: text.split(' ').at(-1) ?? '', fingerprint: FINGERPRINT }),
    ttlMs: 1,
    onRepeat: (text) => (text.startsWith('told') ? [to(`again ${text}`)] : []),
    isWorthRemembering: (caused) => caused.some(({ kind }) => kind !== 'wait'),
  },
  hasRooms: true,
  drainsWhileBlocked: true,
  now: () => 0,
};

const PREFIXES: Record<string, string> = {
  [suspectsExchange]: 'suspect ',
  [rejectedExchange]: 'rejected ',
};

/** Builds a publication of that text. */
export function to(text: string): Publication {
  return { kind: 'publish', exchange: deliveriesExchange, routingKey: '', body: Buffer.from(text) };
}

/** Builds a delivery of that text, which may travel with others. */
export function delivery(text: string): Publication {
  const publication = to(text);
  return { ...publication, delivery: aDelivery({ body: publication.body }) };
}

/** Builds a delivery that is to wait, of that text. */
export function waits(text: string): Waiting {
  return {
    kind: 'wait',
    row: { room: '', madeAt: 0, id: text, why: 'full', delivery: aDelivery({ body: Buffer.from(text) }) },
  };
}

/** Builds an outcome with that delivery guid. */
export function record(name: string, body = ''): Recorded {
  const of = { delivery: name, subscription: '', generation: 3, event: '', attempt: 1, at: 0, body };
  return {
    kind: 'outcome',
    outcome: { kind: 'dropped', reason: 'unsubscribed', interface: 'carrier', action: 'order.created', ...of },
  };
}

/** Builds the end of a delivery to that subscription. */
export function end(subscription: string, isDelivered = true): Ended {
  return { kind: 'end', end: { delivery: 'd', subscription, generation: 3, isDelivered, at: 0 } };
}

/**
 * Drives the hand-over alone: takes inputs by the texts of messages, and returns its effects as words: those for many members or
 * sources one by one, or `together`.
 */
export class ToldStep {
  readonly state = { ...emptyState<string>(), broker: 'writable' as const };
  readonly #rules: StepRules<string>;
  readonly #isTogether: boolean;
  readonly #members = new Map<string, number>();
  readonly #sendings = new Map<string, number>();

  constructor({ together = false, ...rules }: ToldRules = {}) {
    this.#rules = { ...RULES, ...rules };
    this.#isTogether = together;
  }

  apply(input: Input): string[] {
    return step(this.state, input, this.#rules).flatMap((effect) => this.#say(effect));
  }

  came(source: number, texts: readonly string[], how: Coming = {}): string[] {
    return this.cameTogether({ source, texts, ...how });
  }

  cameTogether(...sources: readonly ComingSource[]): string[] {
    return this.apply({ kind: 'came', sources: sources.map(arrived) });
  }

  /** Lets messages come, and run. */
  take(source: number, ...texts: string[]): string[] {
    return this.came(source, texts);
  }

  recalled(text: string, isKnown: boolean): string[] {
    return this.recalledTogether([text, isKnown]);
  }

  recalledTogether(...all: readonly [text: string, isKnown: boolean][]): string[] {
    const known = all.map(([, isKnown]) => (isKnown ? FINGERPRINT : undefined));
    return this.apply({ kind: 'recalled', members: all.map(([text]) => this.#member(text)), known });
  }

  returned(text: string, ...caused: Outgoing[]): string[] {
    return this.ended([text, { kind: 'done', caused }]);
  }

  returnedInParts(text: string, caused: InParts): string[] {
    return this.ended([text, { kind: 'done', caused }]);
  }

  threw(text: string): string[] {
    return this.ended([text, FAILED]);
  }

  dependencyAway(text: string): string[] {
    return this.ended([text, LACKING]);
  }

  slow(...sources: number[]): string[] {
    return this.apply({ kind: 'slow', sources: new Set(sources) });
  }

  stored(text: string, source: number | undefined): string[] {
    return this.apply({ kind: 'stored', member: this.#member(text), source });
  }

  /** The handler rejects for all of these. */
  threwForAll(texts: readonly string[], why: NoResult = FAILED): string[] {
    return this.apply({ kind: 'threw', members: texts.map((text) => this.#member(text)), why });
  }

  remembered(...texts: string[]): string[] {
    return this.apply({ kind: 'remembered', members: texts.map((text) => this.#member(text)) });
  }

  confirmed(...all: string[]): string[] {
    return this.apply({ kind: 'confirmed', sendings: all.map((what) => this.#sendings.get(what) ?? 0) });
  }

  /** Reports the result of a sending; `what` is its text after `publish` or `put`. */
  sent(what: string, fate: 'confirmed' | 'unconfirmed' | 'stalled' | 'unbound' | 'refused'): string[] {
    if (fate === 'confirmed') return this.confirmed(what);
    const sending = this.#sendings.get(what) ?? 0;
    if (fate === 'unbound') return this.apply({ kind: 'refused', sending, error: new Unroutable(to(what)) });
    if (fate === 'refused') return this.apply({ kind: fate, sending, error: new Error('too large') });
    return this.apply({ kind: fate, sending });
  }

  ended(...fates: readonly [text: string, Fate][]): string[] {
    const members = fates.map(([text]) => this.#member(text));
    return this.apply({ kind: 'ended', members, fates: fates.map(([, fate]) => fate) });
  }

  #say(effect: Effect<string>): string[] {
    switch (effect.kind) {
      case 'remember':
      case 'run': {
        const verb = effect.kind === 'run' && effect.isAlone && this.#isTogether ? 'run alone' : effect.kind;
        return this.#sayAll(
          verb,
          effect.members.map((member) => this.#text(member)),
        );
      }
      case 'acknowledge':
        return this.#sayAll('acknowledge', effect.sources);
      case 'report':
        if (effect.report.kind !== 'handled') return [`report ${effect.report.kind}`];
        return this.#isTogether ? ['report handled'] : effect.report.members.map(() => 'report handled');
      default:
        return [this.#sayOne(effect)];
    }
  }

  #sayOne(effect: Exclude<Effect<string>, { kind: 'run' | 'remember' | 'acknowledge' | 'report' }>): string {
    switch (effect.kind) {
      case 'store':
        return `store ${this.#text(effect.member)}`;
      case 'publish':
        return this.#saySending(effect, effect.publication);
      case 'put':
        return this.#saySending(
          effect,
          effect.what.kind === 'wait' ? to(effect.what.row.delivery.body.toString()) : effect.what,
        );
      case 'give back':
        return `give back ${effect.source}${pauseOf(effect)}`;
      case 'forget':
        return `forget ${effect.source}`;
      default:
        return effect.kind;
    }
  }

  #saySending(effect: { kind: string; sending: number; afterMs: number }, publication: Publication): string {
    const what = textOf(publication);
    this.#sendings.set(what, effect.sending);
    return `${effect.kind} ${what}${pauseOf(effect)}`;
  }

  #sayAll(verb: string, objects: readonly (string | number)[]): string[] {
    return this.#isTogether ? [`${verb} ${objects.join()}`] : objects.map((object) => `${verb} ${object}`);
  }

  #text(member: number): string {
    const text = this.state.members.get(member)?.message.body.toString() ?? 'nobody';
    this.#members.set(text, member);
    return text;
  }

  #member(text: string): number {
    return this.#members.get(text) ?? 0;
  }
}

type ToldRules = Pick<StepRules<string>, 'hasRooms' | 'drainsWhileBlocked'> & { together?: boolean };
type ComingSource = Coming & { source: number; texts: readonly string[] };
type Coming = { lane?: Lane; deliveryCount?: number; crashes?: number; waited?: WaitedFor };

function arrived({ source, texts, lane = 'queue', ...how }: ComingSource): Arrived {
  const of = { queue: 'q', exchange: 'e', routingKey: 'k', deliveryCount: 0, crashes: 0, failures: 0, ...how };
  const messages = texts.map((text): Message => ({ ...of, body: Buffer.from(text) }));
  return { id: source, lane, messages };
}

function pauseOf({ afterMs }: { afterMs: number }): string {
  return afterMs > 0 ? ` after ${afterMs}` : '';
}

/** Says a publication: its text, or the names of what it joins. */
export function textOf({ exchange, body, ...of }: Publication): string {
  if (isDeliveryBatch(of)) return `deliveries ${namesIn({ ...of, exchange, body }).join()}`;
  if (exchange === endsExchange) {
    const ends = readEnds({ body });
    return `ends ${isRejection(ends) ? ends.detail : ends.map(({ subscription }) => subscription).join()}`;
  }
  if (exchange !== outcomesExchange) return `${PREFIXES[exchange] ?? ''}${body.toString()}`;
  const names = readOutcomes(body).map((outcome) => ('attempt' in outcome ? outcome.delivery : ''));
  return `records ${names.join()}`;
}

function namesIn(publication: Publication): string[] {
  const message = { ...publication, queue: '', deliveryCount: 0, failures: 0 };
  return (readMembers(message) ?? []).map(({ body }) => body.toString());
}
