import { Unavailable } from '@waybell/runtime/unavailable';
import { Unroutable } from '../publish-errors.ts';
import { step } from '../hand-over/hand-over.ts';
import { emptyState, type Effect, type Input, type StepRules } from '../hand-over/state.ts';
import type { Lane } from '../hand-over/suspicion.ts';
import {
  reject,
  type Ended,
  type Fate,
  type InParts,
  isRejection,
  type Message,
  type Outgoing,
  type Parked,
  type ParkedFor,
  type Publication,
  type Recorded,
} from '../messages.ts';
import { readEnds } from '../delivery-ends.ts';
import { readOutcomes } from '../outcome-batch.ts';
import { deliveriesExchange, endsExchange, outcomesExchange, rejectedExchange, suspectsExchange } from '../topology.ts';

const FINGERPRINT = '1';
const AWAY = new Unavailable('postgres', () => Promise.resolve());

/** A message is its text; the last word is its key. */
const RULES: StepRules<string> = {
  name: 'step',
  parse({ body }) {
    const text = body.toString();
    return text.startsWith('nonsense') ? reject('nonsense', 'it says so') : text;
  },
  once: {
    keyOf: (text) => ({ key: text.split(' ').at(-1) ?? '', fingerprint: FINGERPRINT }),
    ttlMs: 1,
    onRepeat: () => [],
    isWorthRemembering: (caused) => caused.length > 0,
  },
  keeps: true,
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

/** Builds a delivery to park, of that text. */
export function parked(text: string): Parked {
  const row = { subscription: '', createdAt: 0, delivery: text, attempt: 1, hop: 1, action: '', note: '' };
  return { kind: 'park', row: { ...row, why: 'full', body: Buffer.alloc(0) }, account: '', otherwise: to(text) };
}

/** Builds an outcome with that delivery guid. */
export function record(name: string, body = ''): Recorded {
  const of = { delivery: name, subscription: '', generation: 1, event: '', attempt: 1, at: 0, body };
  return {
    kind: 'outcome',
    outcome: { kind: 'dropped', reason: 'unsubscribed', interface: 'carrier', action: 'order.created', ...of },
  };
}

/** Builds the end of a delivery to that subscription. */
export function end(subscription: string, isDelivered = true): Ended {
  return { kind: 'end', end: { delivery: 'd', subscription, generation: 1, isDelivered, at: 0 } };
}

/** Drives the hand-over alone: takes inputs by the texts of messages, and returns its effects as words. */
export class ToldStep {
  readonly state = { ...emptyState<string>(), broker: 'writable' as const };
  readonly #rules: StepRules<string>;
  readonly #members = new Map<string, number>();
  readonly #sendings = new Map<string, number>();

  constructor(rules: Pick<StepRules<string>, 'keeps' | 'drainsWhileBlocked'> = {}) {
    this.#rules = { ...RULES, ...rules };
  }

  apply(input: Input): string[] {
    return step(this.state, input, this.#rules).flatMap((effect) => this.#say(effect));
  }

  came(
    source: number,
    texts: readonly string[],
    { lane = 'queue', deliveryCount = 0, deaths = 0, parked: where }: Coming = {},
  ): string[] {
    const messages = texts.map((text): Message => {
      const fields = {
        queue: 'q',
        exchange: 'e',
        routingKey: 'k',
        body: Buffer.from(text),
        deliveryCount,
        deaths,
        failures: 0,
      };
      return where === undefined ? fields : { ...fields, parked: where };
    });
    return this.apply({ kind: 'came', sources: [{ id: source, lane, messages }] });
  }

  /** Lets messages come, and be new. */
  take(source: number, ...texts: string[]): string[] {
    this.came(source, texts);
    return texts.flatMap((text) => this.recalled(text, false));
  }

  recalled(text: string, isKnown: boolean): string[] {
    const known = [isKnown ? FINGERPRINT : undefined];
    return this.apply({ kind: 'recalled', members: [this.#member(text)], known });
  }

  returned(text: string, ...caused: Outgoing[]): string[] {
    return this.#ended(text, { kind: 'done', caused });
  }

  returnedInParts(text: string, caused: InParts): string[] {
    return this.#ended(text, { kind: 'done', caused });
  }

  threw(text: string): string[] {
    return this.#ended(text, { kind: 'failed', error: new Error('a bug') });
  }

  dependencyAway(text: string): string[] {
    return this.#ended(text, { kind: 'failed', error: AWAY });
  }

  slow(...sources: number[]): string[] {
    return this.apply({ kind: 'slow', sources: new Set(sources) });
  }

  leased(text: string, source: number | undefined): string[] {
    return this.apply({ kind: 'leased', member: this.#member(text), source });
  }

  remembered(text: string): string[] {
    return this.apply({ kind: 'remembered', members: [this.#member(text)] });
  }

  /** Reports the result of a sending; `what` is its text after `publish`, `keep` or `park`. */
  sent(what: string, fate: 'confirmed' | 'unconfirmed' | 'stalled' | 'unbound' | 'refused'): string[] {
    const sending = this.#sendings.get(what) ?? 0;
    if (fate === 'unbound') return this.apply({ kind: 'refused', sending, error: new Unroutable(to(what)) });
    if (fate === 'refused') return this.apply({ kind: fate, sending, error: new Error('too large') });
    return this.apply(fate === 'confirmed' ? { kind: fate, sendings: [sending] } : { kind: fate, sending });
  }

  #ended(text: string, fate: Fate): string[] {
    return this.apply({ kind: 'ended', members: [this.#member(text)], fates: [fate] });
  }

  /** Says an effect in a word or two for each member or source that it is for. */
  #say(effect: Effect<string>): string[] {
    switch (effect.kind) {
      case 'recall':
      case 'run':
      case 'remember':
        return effect.members.map((member) => `${effect.kind} ${this.#text(member)}`);
      case 'acknowledge':
        return effect.sources.map((source) => `acknowledge ${source}`);
      case 'report':
        if (effect.report.kind !== 'handled') return [`report ${effect.report.kind}`];
        return effect.report.members.map(() => 'report handled');
      default:
        return [this.#sayOne(effect)];
    }
  }

  #sayOne(effect: Exclude<Effect<string>, { kind: 'recall' | 'run' | 'remember' | 'acknowledge' | 'report' }>): string {
    switch (effect.kind) {
      case 'lease':
        return `lease ${this.#text(effect.member)}`;
      case 'publish':
      case 'keep': {
        const what = textOf(effect.publication);
        this.#sendings.set(what, effect.sending);
        return `${effect.kind} ${what}${pauseOf(effect)}`;
      }
      case 'park': {
        const what = effect.parked.row.delivery;
        this.#sendings.set(what, effect.sending);
        return `park ${what}`;
      }
      case 'give back':
        return `give back ${effect.source}${pauseOf(effect)}`;
      case 'forget':
        return `forget ${effect.source}`;
      default:
        return effect.kind;
    }
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

type Coming = { lane?: Lane; deliveryCount?: number; deaths?: number; parked?: ParkedFor };

function pauseOf({ afterMs }: { afterMs: number }): string {
  return afterMs > 0 ? ` after ${afterMs}` : '';
}

function textOf({ exchange, body }: Publication): string {
  if (exchange === endsExchange) {
    const ends = readEnds({ body });
    return `ends ${isRejection(ends) ? ends.detail : ends.map(({ subscription }) => subscription).join()}`;
  }
  if (exchange !== outcomesExchange) return `${PREFIXES[exchange] ?? ''}${body.toString()}`;
  const names = readOutcomes(body).map((outcome) => ('attempt' in outcome ? outcome.delivery : ''));
  return `records ${names.join()}`;
}
