import { randomUUID } from 'node:crypto';
import type { Ledger } from '../testing/ledger.ts';
import { endsAfter, type Addressee, type Ending } from '../testing/owed.ts';
import { ATTEMPTS, subscribed, type Party, type Subscribed } from '../testing/subscribers.ts';
import type { Stage } from './stage.ts';

const ACTION = { shipper: 'order.paid', carrier: 'order.created' };

/** One message fails for the last time just as another is delivered: the subscription goes off all the same. */
export async function raceTheLastFailure(stage: Stage, ledger: Ledger): Promise<void> {
  const { party, path, lastFailure } = await aboutToFail(stage, ledger, { side: 'carrier', folder: '/dead' });
  const fail = await lastFailure;
  stage.receiver.answer(path, 200);
  // It is delivered, or finds the subscription off.
  const ends = [...endsAfter([200]), ...endsAfter([], true).filter(({ onceOff }) => onceOff)];
  await ledger.publish(owing(party, ends));
  fail();
}

/** Subscribes again, at another address, while the last attempt for the old one is about to fail: the subscription stays on. */
export async function subscribeBeforeTheLastFailure(stage: Stage, ledger: Ledger): Promise<void> {
  const { party, lastFailure } = await aboutToFail(stage, ledger, { side: 'shipper', folder: '/renewed' });
  const fail = await lastFailure;
  const path = `/again/${randomUUID()}`;
  const { subscribe } = await stage.stack.clientOf(party.account, 'shipper');
  const token = await subscribe(ACTION.shipper, stage.receiver.url(path));
  fail();
  await ledger.publish(owing(party, endsAfter([200]), { path, token }));
  await stage.receiver.untilReceived(path, 1);
}

function owing(party: Party, ends: readonly Ending[], moved: Partial<Addressee> = {}): Party {
  return {
    ...party,
    owes: (event) =>
      party.owes(event).map(({ to, ...owed }) => ({ ...owed, ...(to && { to: { ...to, ...moved } }), ends })),
  };
}

/** When the last attempt at its first message has come, `lastFailure` resolves with what lets that fail. */
type AboutToFail = { party: Subscribed; path: string; lastFailure: Promise<() => void> };
type Wanted = { side: 'shipper' | 'carrier'; folder: string };

async function aboutToFail(stage: Stage, ledger: Ledger, { side, folder }: Wanted): Promise<AboutToFail> {
  const answers = Array.from({ length: ATTEMPTS[side] }, () => 500);
  const party = await subscribed(stage, { interface: side, action: ACTION[side], folder, answers });
  const path = party.addresses[0]?.path ?? '';
  const lastFailure = Promise.withResolvers<() => void>();
  stage.receiver.answer(path, (response, { headers }) => {
    const fail = () => void response.writeHead(500).end();
    if (headers['x-webhook-attempt'] === String(ATTEMPTS[side])) lastFailure.resolve(fail);
    else fail();
  });
  await ledger.publish(party);
  return { party, path, lastFailure: lastFailure.promise };
}
