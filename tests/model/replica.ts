import type { Delivery } from '@waybell/line/delivery';
import { step } from '@waybell/line/hand-over/hand-over';
import { emptyState, type Effect, type Input, type StepRules, type State } from '@waybell/line/hand-over/state';
import type { Message } from '@waybell/line/messages';
import type { Mark } from '@waybell/line/once';
import { judged, messagesOf, type Copy } from './copies.ts';

/** One deliverer: the hand-over as it is in the product, and what it asked for that is not done yet. */
export type Replica = {
  state: State<Delivery>;
  /** What the broker takes to be in its hands, and rows that it took, by source. */
  held: ReadonlyMap<number, Copy>;
  inFlight: readonly Asked[];
  /** Open requests of others that it sent to their queue, and has yet to remove. */
  sent: readonly Message[];
  /** What it remembered itself. */
  own: readonly Mark[];
  /** Sources with a member that was handled. */
  done: ReadonlySet<number>;
  /** It gave one of these back. */
  hasGivenBackDone: boolean;
  /** It blamed a message for deaths that there were not. */
  hasBlamedInnocent: boolean;
};

const ASKED = ['recall', 'run', 'publish', 'keep', 'park', 'remember', 'lease', 'acknowledge', 'give back'] as const;
type AskedKind = (typeof ASKED)[number];
export type Asked<K extends AskedKind = AskedKind> = Effect<Delivery> & { kind: K };

export const NEW_REPLICA: Replica = {
  state: { ...emptyState(), broker: 'writable' },
  held: new Map(),
  inFlight: [],
  sent: [],
  own: [],
  done: new Set(),
  hasGivenBackDone: false,
  hasBlamedInnocent: false,
};

export function isIdle({ state, held, inFlight, sent }: Replica): boolean {
  return state.sources.size + held.size + inFlight.length + sent.length === 0;
}

/** The replica once it has heard all that. Records leave at once. */
export function apply(replica: Replica, inputs: readonly Input[], rules: StepRules<Delivery>): Replica {
  const state = copied(replica.state);
  const inFlight = [...replica.inFlight];
  const done = new Set(replica.done);
  let { hasGivenBackDone } = replica;
  const heard = [...inputs];
  // It grows meanwhile.
  for (const input of heard) {
    for (const effect of step(state, input, rules)) {
      if (effect.kind === 'flush later') heard.push({ kind: 'flush due' });
      else if (isAsked(effect)) inFlight.push(effect);
      if (effect.kind === 'report' && effect.report.kind === 'handled') done.add(effect.report.member.source);
      hasGivenBackDone ||= effect.kind === 'give back' && done.has(effect.source);
    }
  }
  for (const source of done) if (!state.sources.has(source)) done.delete(source);
  return { ...replica, state, inFlight, done, hasGivenBackDone };
}

/** The replica with a copy in its hands. */
export function take(replica: Replica, copy: Copy, rules: StepRules<Delivery>): Replica {
  const source = replica.state.lastId + 1;
  const held = new Map([...replica.held, [source, copy]]);
  const { lane } = copy;
  const messages = messagesOf(judged(copy));
  const taken = apply({ ...replica, held }, [{ kind: 'came', source, lane, messages }], rules);
  return isInnocentBlamed(taken, source, copy) ? { ...taken, hasBlamedInnocent: true } : taken;
}

/** So many processes died with it at least that a message is blamed for. One more, the first, may have been a connection. */
const LEAST_DEATHS = { queue: 2, suspects: 1, quarantine: 3 } as const;
const BLAMES = new Set(['put aside', 'send alone', 'quarantine', 'reject']);

function isInnocentBlamed({ state }: Replica, source: number, { lane, died, row }: Copy): boolean {
  if (row !== undefined || died >= LEAST_DEATHS[lane]) return false;
  return [...state.members.values()].some((member) => member.source === source && BLAMES.has(member.purpose));
}

export function without(replica: Replica, source: number): Replica {
  return { ...replica, held: new Map([...replica.held].filter(([id]) => id !== source)) };
}

/** Those of what it held were taken back, and nothing more is heard of them. */
export function cutOff(replica: Replica, isCut: (copy: Copy) => boolean, rules: StepRules<Delivery>): Replica {
  const cut = new Set([...replica.held].filter(([, copy]) => isCut(copy)).map(([source]) => source));
  const held = new Map([...replica.held].filter(([source]) => !cut.has(source)));
  const inFlight = replica.inFlight.filter((asked) => !('source' in asked && cut.has(asked.source)));
  return apply(
    { ...replica, held, inFlight },
    [...cut].map((source) => ({ kind: 'cut', source }) as const),
    rules,
  );
}

/** Whether it holds what was parked. */
export function hasRows({ held }: Replica): boolean {
  return [...held.values()].some(({ row }) => row !== undefined);
}

/** What else there is needs no answer here: it tells people, or lets go of what the broker has. */
function isAsked(effect: Effect<Delivery>): effect is Asked {
  return ASKED.some((kind) => kind === effect.kind);
}

/** What `step` changes, copied; messages and what they cause never change. */
function copied(state: State<Delivery>): State<Delivery> {
  return {
    ...state,
    sources: new Map([...state.sources].map(([id, source]) => [id, { ...source, back: [...source.back] }])),
    members: new Map([...state.members].map(([id, member]) => [id, { ...member }])),
    keys: new Map(state.keys),
    waiting: new Set(state.waiting),
    sendings: new Map([...state.sendings].map(([id, sending]) => [id, { ...sending }])),
    bufferedRecords: [...state.bufferedRecords],
  };
}
