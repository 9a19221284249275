/**
 * State, inputs and effects of the hand-over: plain data. So a state can be copied, and everything tried that may follow
 * from it.
 */
import type { BrokerState } from '../broker-state.ts';
import type { DeliveryEnd, Outcome } from '../outcomes.ts';
import type { InParts, Message, Outgoing, Parked, Parse, Publication, Rejection } from '../messages.ts';
import type { Mark, OncePolicy } from '../once.ts';
import type { Lane } from './suspicion.ts';

/** How a step reads and recognises messages. `M` is what `parse` reads of one. */
export type StepRules<M> = {
  /** Names the step's suspects lane. */
  name: string;
  parse: Parse<M>;
  once?: OncePolicy<M>;
  /** Publications that the broker does not take now can be kept outside of it, and are sent on from there later. */
  keeps?: boolean;
  /**
   * It goes on while the broker blocks publishers, keeping what it causes, and so drains the backlog that may have caused
   * the alarm. Others wait.
   */
  drainsWhileBlocked?: boolean;
  /** Further effects of a rejection, such as a record for the delivery log. */
  reportRejection?: (message: Message, rejection: Rejection) => readonly Outgoing[];
  /** Milliseconds since the epoch, for what people read. */
  now: () => number;
};

/** Something that a step took: an AMQP message, or a parked row. It closes when all its members have. */
export type HeldSource = {
  id: number;
  /** False once it was taken back: another process has it, or will. */
  isHeld: boolean;
  /** Members that it came with. */
  size: number;
  /** Members that are not closed. */
  open: number;
  /** Members that are to come again, and after how long; none where nothing keeps it from being acknowledged. */
  back: Message[];
  backAfterMs: number;
  /** A member of it is done with, and must not come again. */
  isPartlyDone: boolean;
};

/** One message on its way through the step. Each advances alone. */
export type Member<M> = {
  id: number;
  source: number;
  lane: Lane;
  message: Message;
  parsed?: M;
  /** The mark by which it is recognised. The member that holds a key holds up its twins. */
  mark?: Mark;
  /** The member with the same key that comes after it. */
  twin?: number;
  isRepeat: boolean;
  isWorthRemembering: boolean;
  /** Its handler is at work. */
  isRunning: boolean;
  /** Its lease was asked for: something else than its bundle is to hold it. */
  isLeaseAsked: boolean;
  /** The present end of its effects. */
  purpose: 'handle' | 'reject' | 'put aside' | 'quarantine' | 'send alone';
  caused: readonly Outgoing[];
  /** The parts that are still to come, of a message with effects in parts. */
  parts?: InParts;
  /** Number of publications that it caused and that are not yet known to be safe. */
  underWay: number;
  failure?: Failure;
  /** Something it caused could not be made safe while it was held. */
  isAbandoned: boolean;
};

/** The first thing that went wrong. */
export type Failure = { error: unknown };

/** Something that is to be made safe elsewhere. Its fate is that of its members, and of no other. */
export type Sending = {
  id: number;
  what: Publication | Parked;
  shares: Share[];
  /** How long was waited before it was sent for the last time. */
  delayMs: number;
  /** How often it was asked for, and nothing is known of it yet: to be kept, perhaps, after it was to be published. */
  asked: number;
  /** It was last asked for to be kept. */
  isKept: boolean;
};

/** One member's part of a sending. */
export type Share = {
  member: number;
  /** Approximate size of its record or end; 0 where it is neither. */
  characters: number;
};

/** A record, or an end, that leaves with the next flush; and the trace that it belongs to, where that is recorded. */
export type BufferedRecord = Share & { outcome?: Outcome; end?: DeliveryEnd; traceparent?: string };

export type State<M> = {
  sources: Map<number, HeldSource>;
  members: Map<number, Member<M>>;
  /** The last member that has each key that is held. */
  keys: Map<string, number>;
  /** Members that wait for a dependency. */
  waiting: Set<number>;
  sendings: Map<number, Sending>;
  entries: BufferedRecord[];
  /** Characters of `entries`. */
  entryCharacters: number;
  broker: BrokerState;
  /** A short outage is waited out with what is in hand; in a long one everything is given back. */
  outage: 'none' | 'short' | 'long';
  isClosing: boolean;
  lastId: number;
};

/** The inputs of the hand-over. */
export type Input =
  | { kind: 'came'; source: number; lane: Lane; messages: readonly Message[] }
  /** The source was taken back: the channel is gone, or the lease. */
  | { kind: 'cut'; source: number }
  | { kind: 'recalled'; member: number; known: string | undefined }
  | { kind: 'returned'; member: number; caused: readonly Outgoing[] | InParts }
  | { kind: 'threw'; member: number; error: unknown }
  /** A dependency that the handler needs is away. */
  | { kind: 'dependency away'; member: number }
  | { kind: 'confirmed' | 'unconfirmed'; sending: number }
  /** Its queue confirms nothing for now: it was not sent. */
  | { kind: 'stalled'; sending: number }
  /** No queue takes it, or where it was to be parked does not. */
  | { kind: 'refused'; sending: number; error: unknown }
  | { kind: 'remembered'; member: number }
  /** Bundles that have been held for long. */
  | { kind: 'slow'; sources: ReadonlySet<number> }
  /** The source that holds it now, instead of its bundle; undefined if none could. */
  | { kind: 'leased'; member: number; source: number | undefined }
  /** Records have waited long enough for others. */
  | { kind: 'flush due' }
  | { kind: 'broker'; is: BrokerState }
  /** The dependency is back; or has been away for so long that nothing is to wait for it in hand. */
  | { kind: 'back' | 'outlasted' }
  /** The step is to end: what has not begun is given back. */
  | { kind: 'closing' };

/** The effects that the runner is to run. */
export type Effect<M> =
  | { kind: 'recall'; member: number; key: string }
  | { kind: 'run'; member: number; message: M }
  | { kind: 'publish'; sending: number; publication: Publication; afterMs: number }
  /** The broker does not take it for now: it is to be kept outside, to be sent on from there. */
  | { kind: 'keep'; sending: number; publication: Publication; afterMs: number }
  | { kind: 'park'; sending: number; parked: Parked; afterMs: number }
  | { kind: 'remember'; member: number; mark: Mark }
  /** Its handler takes long: it is to be kept somewhere else, so that its bundle may go. */
  | { kind: 'lease'; member: number; message: Message }
  | { kind: 'acknowledge'; source: number }
  | { kind: 'give back'; source: number; afterMs: number }
  /** Another process has it already. */
  | { kind: 'forget'; source: number }
  | { kind: 'flush later' }
  /** The broker takes nothing. */
  | { kind: 'wait for broker' }
  | { kind: 'report'; report: Report<M> };

/** For the log, the metrics and the traces. */
export type Report<M> =
  | { kind: 'handled'; member: Member<M> }
  | { kind: 'rejected'; message: Message; rejection: Rejection }
  | { kind: 'failed'; message: Message; error: unknown }
  | { kind: 'put aside'; message: Message; isQuarantined: boolean }
  | { kind: 'given back' }
  /** Not even the suspects lane takes it: the topology is broken. */
  | { kind: 'stuck'; message: Message; error: unknown };

export function emptyState<M>(): State<M> {
  return {
    sources: new Map(),
    members: new Map(),
    keys: new Map(),
    waiting: new Set(),
    sendings: new Map(),
    entries: [],
    entryCharacters: 0,
    broker: 'away',
    outage: 'none',
    isClosing: false,
    lastId: 0,
  };
}

/** One input under way: what it leads to. */
export type Turn<M> = {
  state: State<M>;
  rules: StepRules<M>;
  effects: Effect<M>[];
  /** Members of whose sendings none is under way any more. */
  settled: Member<M>[];
};

export function newSource<M>(state: State<M>, id: number, size: number): HeldSource {
  const source = { id, isHeld: true, size, open: size, back: [], backAfterMs: 0, isPartlyDone: false };
  state.sources.set(id, source);
  return source;
}

export function addMember<M>({ state }: Turn<M>, source: number, lane: Lane, message: Message): Member<M> {
  const member: Member<M> = {
    id: ++state.lastId,
    source,
    lane,
    message,
    purpose: 'handle',
    isRepeat: false,
    isWorthRemembering: false,
    isRunning: false,
    isLeaseAsked: false,
    caused: [],
    underWay: 0,
    isAbandoned: false,
  };
  state.members.set(member.id, member);
  return member;
}

export function isHeld<M>({ state }: Turn<M>, { source }: Member<M>): boolean {
  return state.sources.get(source)?.isHeld === true;
}
