export { toNumber } from '@waybell/events/exact-json';
export { JsonNumber } from '@waybell/events/json';
export type { ExactObject, ExactValue, Numeric } from '@waybell/events/exact-json';
export { actionNames } from './action-names.ts';
export type { Checks, LaterChecks, Secrets, Tokens } from './checks.ts';
export { createReceiver, type Receiver, type ReceiverOptions } from './create-receiver.ts';
export { keepSubscribed, type Kept, type KeepSubscribedOptions } from './keep-subscribed.ts';
export type { KeepingChange, KeepingTrouble, KeptState, KeptSubscription } from './kept-subscription.ts';
export type { Follow, LearnedChecks } from './read-notification.ts';
export { memoryStore, type MemoryStoreOptions } from './store.ts';
export type * from './notifications.ts';
export { parseNotification, type Interface, type NotificationOf, type Parsed } from './parse-notification.ts';
export {
  readNotification,
  type About,
  type HeadersLike,
  type ReadOptions,
  type Received,
  type ReceivedRequest,
} from './read-notification.ts';
export type { Answer, Receive, ReceiveOptions } from './receive.ts';
export type { Refusal, RefusalReason } from './refusal.ts';
export type { LambdaAnswer, LambdaEvent } from './create-receiver.ts';
export type { NodeListener } from './create-receiver.ts';
export type { Begun, Store, StoreTimes } from './store.ts';
export { stringify } from './parse-notification.ts';
export type { Failure, Trouble } from './receive.ts';
export type { Handle, Handlers, Work } from './receive.ts';
