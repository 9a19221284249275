import type { Delivery } from '@waybell/line/delivery';
import type { StepRules } from '@waybell/line/hand-over/state';
import type { DeliveryName } from './copies.ts';
import type { AnswerKind, Deliverer } from './deliverer.ts';

/** The parameters of a model: the replicas, and the faults with their numbers. */
export type Setting = {
  deliverer: Deliverer;
  rules: StepRules<Delivery>;
  deliveries: number;
  replicas: number;
  /** All deliveries come in one batch. */
  isBatched: boolean;
  /** Attempts may take so long that they are put into the room, if they came in a batch. */
  isSlow: boolean;
  /** The last delivery is a suspect at the start. */
  isBesideSuspect: boolean;
  /** Deliveries that may crash a process. */
  killers: readonly DeliveryName[];
  /** How attempts may end. */
  answers: readonly AnswerKind[];
  /** Kinds of faults, and their number altogether. */
  faultKinds: readonly FaultKind[];
  faultLimit: number;
};

export type FaultKind =
  /** A replica dies, between any two of its moves, and a new one is there at once. */
  | 'crash'
  /** A handler of such a delivery crashes too, and counts against it. */
  | 'kills'
  /** A replica's connection for consuming breaks: the broker takes back what it held. */
  | 'cut'
  /** The broker takes back one message of a replica, as where a channel closes. */
  | 'cut one'
  /** A replica is told to end, and another is there once it has. */
  | 'closing'
  /** The broker confirms negatively, or the message is lost on its way. */
  | 'refused'
  /** The broker has the message, and its confirm does not arrive. */
  | 'unconfirmed'
  /** The broker takes nothing from a replica, for a while. */
  | 'blocked'
  /** The queue where the message goes confirms nothing, and the message was not sent. */
  | 'stalled'
  /** No queue is bound where the message goes. */
  | 'returned'
  /** A delay queue brings a message twice. */
  | 'expired twice'
  /** The claim on the room is over, and whose it was does not know yet. */
  | 'claim lost'
  /** A row under way is due in the room, and its process does not know yet. */
  | 'late'
  /** One statement fails. */
  | 'postgres away'
  /** A row was put, at once or later, and no replica got the answer. */
  | 'commit unheard'
  /** One call of Redis fails. */
  | 'redis away'
  | 'redis forgets'
  /** The handler throws after its request. */
  | 'throws'
  /** It throws for all of a batch, before anything was begun for any. */
  | 'throws for all'
  /** A dependency is away for so long that the message is given back. */
  | 'outage';
