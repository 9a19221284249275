import { randomUUID } from 'node:crypto';
import type { Ledger } from '../testing/ledger.ts';
import type { Addressee } from '../testing/owed.ts';
import { subscribed, type Party } from '../testing/subscribers.ts';
import { replicasOf } from './replicas.ts';
import type { Stage } from './stage.ts';

const ACTION = 'order.booked';
const EVENTS = 3;

type Answer = { status: number; body: string };

/** A client of the API behind a round robin: each call goes to the next replica, and on to the one after where that is away. */
class RoundRobin {
  readonly #stage: Stage;
  readonly #token: string;
  #turn = 0;

  constructor(stage: Stage, token: string) {
    this.#stage = stage;
    this.#token = token;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    for (;;) {
      const replicas = replicasOf(this.#stage, 'subscription-api');
      const address = replicas[(this.#turn += 1) % replicas.length]?.spec.address ?? '';
      const answer = await fetch(`${address}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json; charset=utf-8' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
        .then(async (response): Promise<Answer> => ({ status: response.status, body: await response.text() }))
        .catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
    }
  }
}

/** Goes on until `isOver`; resolves with what did not hold. */
export type Moving = (ledger: Ledger, isOver: () => boolean) => Promise<string[]>;

/**
 * A client that changes the address of a subscription again and again, each call at another replica of the API. What an
 * answer says holds from then on, at each of them. To be called while nothing is broken.
 */
export async function movingSubscriber(stage: Stage): Promise<Moving> {
  const { stack, receiver } = stage;
  const party = await subscribed(stage, { interface: 'shipper', action: ACTION, folder: '/moving', answers: [200] });
  const { token } = await stack.clientOf(party.account, 'shipper');
  const api = new RoundRobin(stage, token);
  return async (ledger, isOver) => {
    const problems: string[] = [];
    const moves: string[] = [];
    while (!isOver()) {
      const path = `/moving/${randomUUID()}/${ACTION}`;
      problems.push(...(await changed(stage, api, receiver.url(path))));
      moves.push(path);
      const moved = movedTo(party, { path, moves });
      for (let published = 0; published < EVENTS; published += 1) await ledger.publish(moved);
      await receiver.untilReceived(path, EVENTS);
    }
    return problems;
  };
}

async function changed(stage: Stage, api: RoundRobin, callbackUrl: string): Promise<string[]> {
  const wanted = { callback_url: callbackUrl };
  const { status, body } = await api.call('POST', `/v1/public/webhooks/${ACTION}/subscribe`, wanted);
  const problems = status === 200 ? [] : [`a change was answered with ${status}: ${body}`];
  for (const _ of replicasOf(stage, 'subscription-api')) {
    const listed = await api.call('GET', '/v1/public/webhooks');
    if (!listed.body.includes(callbackUrl)) problems.push(`a replica has not heard of a change: ${listed.body}`);
  }
  return problems;
}

function movedTo(party: Party, moved: Required<Pick<Addressee, 'path' | 'moves'>>): Party {
  return {
    ...party,
    owes: (event) => party.owes(event).map(({ to, ...owed }) => ({ ...owed, ...(to && { to: { ...to, ...moved } }) })),
  };
}
