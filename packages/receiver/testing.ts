/** The entry `@waybell/receiver/testing`: requests as Waybell makes them, for tests of a receiver. */
import { randomUUID } from 'node:crypto';
import { sentExamples } from '@waybell/contracts/sent-examples';
import type { ExactObject } from '@waybell/events/exact-json';
import { callbackHeaders } from '@waybell/notifications/callback';
import { parseNotification, stringify, type Interface, type NotificationOf } from './parse-notification.ts';

type ActionOf<I extends Interface> = NotificationOf<I>['action'];

export type SignedRequestOptions<I extends Interface, A extends string = ActionOf<I>> = {
  interface: I;
  /** Any action of the interface; one that it does not have stands for one that is newer than your version. */
  action: A | ActionOf<I>;
  /** Two forms of a notification exist of five actions of the shipper interface; `plain` unless given. */
  form?: 'plain' | 'revision';
  /** Members that are other than those of the example. */
  change?: Partial<Extract<NotificationOf<I>, { action: A }>>;
  /** The secrets that sign it; empty: it is not signed. */
  secret?: string | readonly string[];
  /** The verification token of the subscription. */
  token?: string;
  /** When it is signed; now unless given. */
  at?: Date;
  /** `webhook-id`; a new one unless given. */
  id?: string;
  attempt?: number;
  isTest?: boolean;
};

export type SignedRequest = {
  headers: Record<string, string>;
  body: string;
  /** The same, for `fetch`. */
  to: (url: string | URL) => Request;
};

/** A request as Waybell makes it: the example of the action, with the changes that are asked for, signed as Waybell signs. */
export function signedRequest<I extends Interface, A extends string>(
  options: SignedRequestOptions<I, A>,
): SignedRequest {
  const { secret = [], token = '', at = new Date(), id = randomUUID(), attempt = 1, isTest = false } = options;
  const guid = options.interface === 'carrier' ? { guid: id } : {};
  const body = stringify({ ...exampleOf(options), ...guid, ...(options.change as ExactObject | undefined) });
  const sent = callbackHeaders({
    id,
    timestampS: Math.floor(at.getTime() / 1_000),
    body: Buffer.from(body),
    verificationToken: token,
    signingSecrets: [secret].flat(),
    attempt,
    isTest,
  });
  // A handler that is given them without a request finds them as Node's servers name them.
  const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
  return { headers, body, to: (url) => new Request(url, { method: 'POST', headers, body }) };
}

/** Makes such a request and sends it. */
export function sendTo<I extends Interface, A extends string>(
  url: string | URL,
  options: SignedRequestOptions<I, A>,
): Promise<Response> {
  return fetch(signedRequest(options).to(url));
}

function exampleOf({ interface: name, action, form = 'plain' }: SignedRequestOptions<Interface, string>): ExactObject {
  const examples = sentExamples[`${name}.${action}`] ?? [];
  const example = examples.find((each) => each.form === form) ?? examples[0];
  if (example !== undefined) {
    const parsed = parseNotification(name, example.body);
    // A notification is an object like any other; its type has no index.
    if (parsed.kind === 'notification') return parsed.notification as unknown as ExactObject;
  }
  const at = '2026-11-20T09:30:00.123+0000';
  if (name === 'shipper') return { action, action_date: at, error_message: null };
  return { action, guid: '', occurred_at: at, data: {} };
}
