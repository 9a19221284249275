import { randomUUID } from 'node:crypto';
import { anEvent } from '../testing/event.ts';
import type { Stage } from './stage.ts';

const ATTEMPTS = { shipper: '6', carrier: '4' };
const ACTION = { shipper: 'order.paid', carrier: 'order.created' };

/** One message fails for the last time just as another is delivered: the subscription goes off all the same. */
export async function raceTheLastFailure(stage: Stage): Promise<void> {
  const { subscriber, lastFailure } = await aboutToFail(stage, 'carrier', '/dead');
  const fail = await lastFailure;
  stage.receiver.answer(subscriber.path, 200);
  await subscriber.hear();
  fail();
}

/** Somebody subscribes anew, at another address, while the last attempt for the old one is about to fail: stays on. */
export async function subscribeBeforeTheLastFailure(stage: Stage): Promise<void> {
  const { subscriber, lastFailure } = await aboutToFail(stage, 'shipper', '/renewed');
  const fail = await lastFailure;
  const anew = `/anew/${randomUUID()}`;
  await subscriber.subscribeAt(anew);
  fail();
  await subscriber.hear();
  await stage.receiver.untilReceived(anew, 1);
}

type Subscriber = { path: string; hear: () => Promise<void>; subscribeAt: (path: string) => Promise<unknown> };
type AboutToFail = {
  subscriber: Subscriber;
  /** Resolves when the last attempt at its first message has come; the function lets that fail. */
  lastFailure: Promise<() => void>;
};

async function aboutToFail(
  { stack, receiver }: Stage,
  interfaceName: 'shipper' | 'carrier',
  folder: string,
): Promise<AboutToFail> {
  const { account, subscribe } = await stack.client(interfaceName);
  const action = ACTION[interfaceName];
  const path = `${folder}/${randomUUID()}`;
  const lastFailure = Promise.withResolvers<() => void>();
  receiver.answer(path, (response, { headers }) => {
    const fail = () => void response.writeHead(500).end();
    if (headers['x-webhook-attempt'] === ATTEMPTS[interfaceName]) lastFailure.resolve(fail);
    else fail();
  });
  const subscribeAt = (to: string) => subscribe(action, receiver.url(to));
  const hear = () =>
    stack.upstream.publish(anEvent({ interface: interfaceName, action, parties: { [interfaceName]: account } }));
  await subscribeAt(path);
  await hear();
  return { subscriber: { path, hear, subscribeAt }, lastFailure: lastFailure.promise };
}
