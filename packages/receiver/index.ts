export { toNumber, type ExactObject, type ExactValue, type Numeric } from '@waybell/events/exact-json';
export { JsonNumber } from '@waybell/events/json';
export { actionNames } from './action-names.ts';
export type { Checks, LaterChecks, Secrets, Tokens } from './checks.ts';
export {
  createReceiver,
  type LambdaAnswer,
  type LambdaEvent,
  type NodeListener,
  type Receiver,
  type ReceiverOptions,
} from './create-receiver.ts';
export { keepSubscribed, type Kept, type KeepSubscribedOptions } from './keep-subscribed.ts';
export type { KeepingChange, KeepingTrouble, KeptState, KeptSubscription } from './kept-subscription.ts';
export type * from './notifications.ts';
export {
  parseNotification,
  stringify,
  type Interface,
  type NotificationOf,
  type Parsed,
} from './parse-notification.ts';
export {
  readNotification,
  type About,
  type Follow,
  type HeadersLike,
  type LearnedChecks,
  type ReadOptions,
  type Received,
  type ReceivedRequest,
} from './read-notification.ts';
export type { Answer, Failure, Handle, Handlers, Receive, ReceiveOptions, Trouble, Work } from './receive.ts';
export type { Refusal, RefusalReason } from './refusal.ts';
export { memoryStore, type Begun, type MemoryStoreOptions, type Store, type StoreTimes } from './store.ts';
