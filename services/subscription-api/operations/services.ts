import type { Request, Response } from 'express';
import type { Action, Interface } from '@waybell/catalog/action';
import type { EventLimits } from '@waybell/events/read-event';
import type { Redis } from '@waybell/runtime/redis';
import type { CallbackRules } from '../callback-url.ts';
import type { Database } from '../database.ts';
import type { OperatorLine } from '@waybell/line/operating/operator-line';
import type { Log } from '@waybell/runtime/log';
import type { Subscriptions } from '../subscriptions.ts';
import type { CountHours } from '../rest/deliveries/count-hours.ts';
import type { limitFailures } from '../rest/http/limits.ts';
import type { CredentialsStore } from '../receiver-credentials.ts';
import type { AwaitEnds } from '../rest/deliveries/await-ends.ts';
import type { Live } from '../rest/live/live.ts';
import type { SigningSecrets } from '../signing-secrets.ts';
import type { ListenerSettings } from '../rest/listeners/relay.ts';
import type { KnowingAgain } from '../rest/live/event-stream.ts';
import type { ActionList } from './find-action.ts';

/** Services that handlers of clients' operations use, also where an operator acts for a client. */
export type ActingServices = {
  subscriptions: Subscriptions;
  database: Pick<Database, 'askLog' | 'change'>;
  catalog: readonly Action[];
  actionsOf: Record<Interface, ActionList>;
  callbackRules: CallbackRules;
  /** Limit of the wait of a delivery, and so of the pause of a subscription. */
  maxAgeMs: number;
  countHours: CountHours;
  live: Live;
  awaiting: AwaitEnds;
} & KnowingAgain;

/** Documents without a token. */
export type Documents = {
  /** Answers with the one at the path of a request. Throws a Problem (404) where there is none. */
  send(request: Request, response: Response): Promise<void>;
};

export type DocumentServices = { documents: Documents };

/** Services that handlers of clients' operations use. */
export type ClientServices = ActingServices &
  DocumentServices & {
    signingSecrets: SigningSecrets;
    credentials: CredentialsStore;
    redis: Redis;
    eventLimits: EventLimits;
    listenerSettings: ListenerSettings;
    /** Counts what is not valid against the address of its sender. */
    failures: ReturnType<typeof limitFailures>;
  };

/** Services that handlers of operators' operations use. */
export type OperatorServices = DocumentServices & {
  database: Pick<Database, 'askLog' | 'change'>;
  log: Log;
  /** Undefined where this process has no way to the broker. */
  line: OperatorLine | undefined;
  /** The names of all queues of the line. */
  queues: readonly string[];
  eventLimits: EventLimits;
};
