import type { WaitingDestination, WaitingEndpoint, WaitingInAll } from '@waybell/subscription-api/waiting-rooms';
import { accountCalled, type NameOfAccount } from '../accounts.ts';
import { counted, sizeOf } from '../in-words.ts';

/** Describes an endpoint and its waiting deliveries, as a line for a terminal. */
export function describeEndpoint(endpoint: WaitingEndpoint, nameOf: NameOfAccount): string {
  const { account, url, subscriptions, deliveries, isComplete, why } = endpoint;
  return [
    accountCalled(account, nameOf),
    url ?? 'a URL that no subscription has any more',
    `${isComplete ? '' : 'more than '}${amountOf(counted(deliveries, 'delivery', 'deliveries'), endpoint)}`,
    why.join(', '),
    ...stateOf(endpoint),
    `${subscriptions.length === 1 ? 'subscription' : 'subscriptions'} ${subscriptions.join(', ')}`,
  ].join('  ');
}

/** Describes a destination and its waiting publications, as a line for a terminal. */
export function describeDestination(destination: WaitingDestination): string {
  const { service, exchange, routingKey, publications } = destination;
  return [
    service,
    `${exchange} ${routingKey}`.trim(),
    amountOf(counted(publications, 'publication'), destination),
    ...stateOf(destination),
  ].join('  ');
}

/** All that waits, as two lines. */
export function describeInAll({
  endpoints,
  destinations,
}: Record<'endpoints' | 'destinations', WaitingInAll>): string[] {
  const amounts = (all: WaitingInAll, what: string, where: string) =>
    all.oldestAt === null
      ? 'nothing'
      : `${amountOf(what, { ...all, oldestAt: all.oldestAt })}, for ${counted(all.rooms, where)}${all.shut === 0 ? '' : ` (${all.shut} shut)`}`;
  return [
    `waiting for endpoints: ${amounts(endpoints, counted(endpoints.rows, 'delivery', 'deliveries'), 'endpoint')}`,
    `waiting for RabbitMQ: ${amounts(destinations, counted(destinations.rows, 'publication'), 'destination')}`,
  ];
}

function amountOf(count: string, { bytes, oldestAt }: { bytes: number; oldestAt: number }): string {
  return `${count}, ${sizeOf(bytes)}, oldest since ${timeOf(oldestAt)}`;
}

/** The endpoint of a held subscription is not called. */
const isHeld = (room: WaitingEndpoint | WaitingDestination): boolean =>
  'why' in room && room.why.every((why) => why === 'paused' || why === 'stopped');

function stateOf(room: WaitingEndpoint | WaitingDestination): string[] {
  const { shutSince, isClaimed, nextTryAt } = room;
  const isInHand = isClaimed || nextTryAt === null;
  // Whether it has taken anything since it was claimed, its process alone knows.
  return [
    ...(shutSince === null ? (isInHand || isHeld(room) ? [] : ['open']) : [`shut since ${timeOf(shutSince)}`]),
    isInHand ? 'in the hands of a process' : `next try ${timeOf(nextTryAt)}`,
  ];
}

const timeOf = (at: number): string => new Date(at).toISOString();
