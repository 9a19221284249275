export { toNumber } from '@waybell/events/exact-json';
export { JsonNumber } from '@waybell/events/json';
export type { ExactObject, ExactValue, Numeric } from '@waybell/events/exact-json';
export { actionNames } from './action-names.ts';
export type { Checks, LaterChecks, Secrets, Tokens } from './checks.ts';
export { createReceiver, type Receiver, type ReceiverOptions } from './create-receiver.ts';
export { keepSubscribed, type Kept, type KeepSubscribedOptions } from './keep-subscribed.ts';
export type { KeepingChange, KeepingTrouble, KeptState, KeptSubscription } from './kept-subscription.ts';
export type { Follow, LearnedChecks } from './learned-checks.ts';
export { memoryStore, type MemoryStoreOptions } from './memory-store.ts';
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
export type { LambdaAnswer, LambdaEvent } from './serve-lambda.ts';
export type { NodeListener } from './serve-node.ts';
export type { Begun, Store, StoreTimes } from './store.ts';
export { stringify } from './stringify.ts';
export type { Failure, Trouble } from './tell-trouble.ts';
export type { Handle, Handlers, Work } from './work-of.ts';
