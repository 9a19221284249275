import { hang, type Hang } from '../testing/hang.ts';
import type { Ledger } from '../testing/ledger.ts';
import type { Ending } from '../testing/owed.ts';
import { putByHand, waitingOf } from '../testing/put-by-hand.ts';
import { ATTEMPTS, subscribed, type Party, type Subscribed, type Subscriber } from '../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Stage } from './stage.ts';

/** A subscriber whose endpoint hangs until it is told otherwise, and what waits for it. */
export type HungParty = Subscribed &
  Hang & {
    subscription: string;
    /** Its requests that were answered with 200, each delivery once. */
    served(): number;
    waiting(): Promise<number>;
    untilWaiting(atLeast: number): Promise<number>;
    /** Has so many deliveries wait for it, past the rest of the line. */
    put(count: number): Promise<void>;
  };

type Wanted = Pick<Subscriber, 'interface' | 'action' | 'folder' | 'account' | 'ends'>;

/** `ledger`: of what is put by hand. Without `ends`, each delivery is to be delivered, at whichever attempt. */
export async function hungParty(
  stage: Omit<Stage, 'scale'>,
  ledger: Pick<Ledger, 'owe'>,
  wanted: Wanted,
): Promise<HungParty> {
  const { receiver, stack } = stage;
  const most = ATTEMPTS[wanted.interface];
  const ends: readonly Ending[] = wanted.ends ?? [{ kind: 'delivered', answers: { most } }];
  const party = await subscribed(stage, { ...wanted, answers: [], ends });
  const { path = '', subscription = '' } = party.addresses[0] ?? {};
  const waiting = () => waitingOf(stack.postgres, subscription);
  return {
    ...party,
    ...hang(receiver, path),
    subscription,
    served() {
      const answered = receiver.received.filter((each) => each.path === path && each.answered === 200);
      return new Set(answered.map(({ headers }) => headers['webhook-id'])).size;
    },
    waiting,
    untilWaiting: (atLeast) =>
      until(`${atLeast} wait`, async () => {
        const count = await waiting();
        return count >= atLeast && count;
      }),
    async put(count) {
      const owing = Array.from({ length: count }, () => party.owes(party.anEvent())).flat();
      const deliveries = owing.flatMap(({ event, to }) => (to === undefined ? [] : [{ event, ...to }]));
      const { interface: side, action } = wanted;
      await putByHand(stack.postgres, { subscription, interface: side, action, deliveries });
      ledger.owe(owing);
    },
  };
}

/** Publishes so many events for them, one after the other. */
export async function publishFor(party: Party, ledger: Ledger, count: number): Promise<void> {
  for (let published = 0; published < count; published += 1) await ledger.publish(party);
}
