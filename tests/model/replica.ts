import type { Delivery } from '@waybell/line/delivery';
import { step } from '@waybell/line/hand-over/hand-over';
import {
  emptyState,
  type Effect,
  type Input,
  type Member,
  type StepRules,
  type State,
} from '@waybell/line/hand-over/state';
import type { Mark } from '@waybell/line/once';
import { isSeveral, judged, messagesOf, type Copy } from './copies.ts';
import { misusedParts, type Parts, partsIn, partsOf, withParts } from './parts.ts';

/** One deliverer: the hand-over as it is in the product, and what it asked for that is not done yet. */
export type Replica = {
  state: State<Delivery>;
  /** Copies that the broker counts as held, and rows that it took, by source. */
  held: ReadonlyMap<number, Copy>;
  inFlight: readonly Asked[];
  /** Marks that it remembered itself. */
  own: readonly Mark[];
  /** Sources with a member that was handled. */
  done: ReadonlySet<number>;
  /** Parts of its messages' effects, until no more are wanted. */
  parts: readonly Parts[];
  /** It has taken no suspect yet. */
  isNew: boolean;
  /** An action that breaks a law of the hand-over. */
  broken?: string | undefined;
};

const ASKED = ['run', 'publish', 'put', 'remember', 'store', 'acknowledge', 'give back'] as const;
type AskedKind = (typeof ASKED)[number];
/** How far a batch that runs is: its recall is answered, and which of it were repeats; something of it has ended. */
type Progress = { isRecalled?: true; repeats?: readonly number[]; hasBegun?: true };
export type Asked<K extends AskedKind = AskedKind> = Effect<Delivery> & { kind: K } & Progress;

export const NEW_REPLICA: Replica = {
  state: { ...emptyState(), broker: 'writable' },
  held: new Map(),
  inFlight: [],
  own: [],
  done: new Set(),
  parts: [],
  isNew: true,
};

export function isIdle({ state, held, inFlight }: Replica): boolean {
  return state.sources.size + held.size + inFlight.length === 0;
}

/** The replica once it has heard all that. Records leave at once. */
export function apply(replica: Replica, inputs: readonly Input[], rules: StepRules<Delivery>): Replica {
  const state = copied(replica.state);
  const parts = [...withParts(state, replica.parts), ...partsIn(inputs)];
  const { held } = replica;
  const inFlight = [...replica.inFlight];
  const done = new Set(replica.done);
  let { broken } = replica;
  const heard = [...inputs];
  // It grows meanwhile.
  for (const input of heard) {
    const isRecord = input.kind === 'unconfirmed' && isOfRecords(state, input.sending);
    for (const effect of step(state, input, rules)) {
      if (effect.kind === 'report' && effect.report.kind === 'handled')
        for (const { source } of effect.report.members) done.add(source);
      if (effect.kind === 'flush later') heard.push({ kind: 'flush due' });
      for (const asked of askedBy(effect)) {
        broken ??= wrongIn(asked, { state, held, inFlight, done });
        inFlight.push(asked);
      }
    }
    if (isRecord && !state.isClosing && !isOfRecords(state, input.sending)) broken ??= 'a record given up';
  }
  broken ??= misusedParts(state, parts, replica.state.isClosing);
  for (const source of done) if (!state.sources.has(source)) done.delete(source);
  return { ...replica, state, inFlight, done, parts: partsOf(state, parts), broken };
}

function isOfRecords({ sendings }: State<Delivery>, sending: number): boolean {
  return sendings.get(sending)?.shares.some(({ characters }) => characters > 0) === true;
}

type Before = Pick<Replica, 'state' | 'held' | 'inFlight' | 'done'>;

/** Returns the law that an effect breaks, given the requests before it. */
function wrongIn(effect: Asked, before: Before): string | undefined {
  if ('members' in effect) return wrongOf(effect, before);
  if (effect.kind !== 'acknowledge' && effect.kind !== 'give back') return undefined;
  const [source = 0] = sourcesOf(effect);
  return wrongToRelease(effect.kind, source, before);
}

function wrongOf({ kind, members }: Effect<Delivery> & { members: readonly number[] }, { state, inFlight }: Before) {
  if (members.length === 0) return `${kind} of nothing`;
  if (new Set(members).size < members.length) return `${kind} of the same twice`;
  if (members.some((id) => !state.members.has(id))) return `${kind} of what has left`;
  if (members.some((id) => state.members.get(id)?.isRepeat)) return `${kind} of a repeat`;
  const isUnderWay = inFlight.some(
    (asked) => asked.kind === kind && membersIn(asked).some((id) => members.includes(id)),
  );
  return isUnderWay ? `${kind} while that is under way` : undefined;
}

function wrongToRelease(kind: 'acknowledge' | 'give back', source: number, { state, held, inFlight, done }: Before) {
  if (!held.has(source)) return `${kind} of what is not held`;
  const isOpen = [...state.members.values()].some((member) => member.source === source);
  if (isOpen || state.sources.has(source)) return `${kind} of what is open`;
  if (inFlight.some((asked) => sourcesOf(asked).includes(source))) return `${kind} of what has gone`;
  return kind === 'give back' && done.has(source) ? 'given back with a member that is done with' : undefined;
}

const membersIn = (asked: Asked): readonly number[] => ('members' in asked ? asked.members : []);

/** The sources that it lets go of. */
export function sourcesOf(effect: Effect<Delivery>): readonly number[] {
  if (effect.kind === 'acknowledge') return effect.sources;
  return effect.kind === 'give back' ? [effect.source] : [];
}

/**
 * Returns effects that need an answer here, or change the broker's state. Acknowledgements in one effect may be lost one by one.
 */
function askedBy(effect: Effect<Delivery>): readonly Asked[] {
  if (effect.kind === 'acknowledge') return effect.sources.map((source) => ({ kind: effect.kind, sources: [source] }));
  return isAsked(effect) ? [effect] : [];
}

/** The replica with copies in its hands, which came together. */
export function take({ replica, index, setting: { rules } }: Taking, copies: readonly Copy[]): Replica {
  let id = replica.state.lastId + 1;
  const taken = copies.map((copy) => {
    const source = { id, lane: copy.lane, messages: messagesOf(judged(copy, index)) };
    id += source.messages.length;
    return { copy, source };
  });
  const held = new Map([...replica.held, ...taken.map(({ copy, source }) => [source.id, copy] as const)]);
  const sources = taken.map(({ source }) => source);
  const isNew = replica.isNew && copies.every(({ lane }) => lane === 'queue');
  const after = apply({ ...replica, held, isNew }, [{ kind: 'came', sources }], rules);
  const isTooEarly = taken.some(({ copy, source }) => isBlamedTooEarly(after, source.id, { copy, index }));
  return isTooEarly ? { ...after, broken: after.broken ?? 'suspected after too few crashes' } : after;
}

type Taking = { replica: Replica; index: number; setting: { rules: StepRules<Delivery> } };

/** Least number of crashed processes after which a message is suspected. */
const LEAST_CRASHES = { alone: 5, several: 3, row: 3 } as const;

function isBlamedTooEarly({ state }: Replica, source: number, { copy, index }: { copy: Copy; index: number }): boolean {
  const { crashes = 0 } = judged(copy, index);
  const how = copy.row !== undefined ? 'row' : isSeveral(copy.message) ? 'several' : 'alone';
  if (crashes >= LEAST_CRASHES[how]) return false;
  return [...state.members.values()].some((member) => member.source === source && isBlamed(member));
}

function isBlamed({ lane, purpose }: Member<Delivery>): boolean {
  return purpose === 'reject' || (lane === 'queue' && (purpose === 'put aside' || purpose === 'send alone'));
}

export function without(replica: Replica, source: number): Replica {
  return { ...replica, held: new Map([...replica.held].filter(([id]) => id !== source)) };
}

/** The sources were taken back, and have no further effects. */
export function cutOff(
  replica: Replica,
  isCut: (copy: Copy, source: number) => boolean,
  rules: StepRules<Delivery>,
): Replica {
  const cut = new Set([...replica.held].filter(([source, copy]) => isCut(copy, source)).map(([source]) => source));
  const held = new Map([...replica.held].filter(([source]) => !cut.has(source)));
  const inFlight = replica.inFlight.filter((asked) => !sourcesOf(asked).some((source) => cut.has(source)));
  return apply(
    { ...replica, held, inFlight },
    [...cut].map((source) => ({ kind: 'cut', source }) as const),
    rules,
  );
}

/** True unless the effect needs no answer: a report, or forgetting a source. */
function isAsked(effect: Effect<Delivery>): effect is Asked {
  return ASKED.some((kind) => kind === effect.kind);
}

/** Copies the state that `step` changes; messages and their effects never change. */
function copied(state: State<Delivery>): State<Delivery> {
  return {
    ...state,
    sources: new Map([...state.sources].map(([id, source]) => [id, { ...source, back: [...source.back] }])),
    members: new Map([...state.members].map(([id, member]) => [id, { ...member }])),
    keys: new Map(state.keys),
    deferred: new Set(state.deferred),
    sendings: new Map([...state.sendings].map(([id, sending]) => [id, { ...sending }])),
    bufferedRecords: [...state.bufferedRecords],
  };
}
