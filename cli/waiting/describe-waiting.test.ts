import { describe, expect, test } from '@jest/globals';
import type { WaitingEndpoint } from '@waybell/subscription-api/waiting-rooms';
import { describeStatus } from '../status/describe-status.ts';
import type { Status } from '../status/read-status.ts';
import { describeDestination, describeEndpoint, describeInAll } from './describe-waiting.ts';

const at = (minute: number): number => Date.parse(`2026-11-20T09:0${minute}:00Z`);
const nameOf = () => undefined;

const endpoint: WaitingEndpoint = {
  account: 'a',
  url: 'https://a.test/hook',
  subscriptions: ['s'],
  deliveries: 1,
  isComplete: true,
  why: ['hung'],
  bytes: 300,
  oldestAt: at(1),
  shutSince: at(2),
  isClaimed: false,
  nextTryAt: at(3),
};

describe('describeEndpoint', () => {
  test('says what waits, why, since when its endpoint takes nothing, and when it is tried next', () => {
    expect(describeEndpoint(endpoint, nameOf)).toBe(
      'account a  https://a.test/hook  1 delivery, 300 bytes, oldest since 2026-11-20T09:01:00.000Z  hung  shut since 2026-11-20T09:02:00.000Z  next try 2026-11-20T09:03:00.000Z  subscription s',
    );
  });

  test('says of what is held when it is looked at, and of no endpoint that it is open', () => {
    expect(describeEndpoint({ ...endpoint, why: ['paused'], shutSince: null }, nameOf)).toContain(
      '  paused  next try 2026-11-20T09:03:00.000Z  subscription s',
    );
    expect(describeEndpoint({ ...endpoint, why: ['full', 'paused'], shutSince: null }, nameOf)).toContain(
      '  full, paused  open  next try 2026-11-20T09:03:00.000Z  subscription s',
    );
  });

  test('says of many that there are more, and of what a process has in hand no time', () => {
    const many = { ...endpoint, deliveries: 10_000, isComplete: false, shutSince: null, isClaimed: true };
    expect(describeEndpoint({ ...many, why: ['full', 'open'], subscriptions: ['s', 't'] }, nameOf)).toContain(
      'more than 10000 deliveries, 300 bytes, oldest since 2026-11-20T09:01:00.000Z  full, open  in the hands of a process  subscriptions s, t',
    );
  });
});

describe('describeDestination', () => {
  test('names an exchange, and the key where there is one', () => {
    const { bytes, oldestAt, shutSince, isClaimed, nextTryAt } = endpoint;
    const room = { bytes, oldestAt, shutSince, isClaimed, nextTryAt, publications: 2, service: 'event-router' };
    const told = /^event-router {2}waybell\.outcomes {2}2 publications, 300 bytes, .* shut since .* next try /;
    expect(describeDestination({ ...room, exchange: 'waybell.outcomes', routingKey: '' })).toMatch(told);
    expect(describeDestination({ ...room, exchange: 'x', routingKey: 'a.b' })).toContain('  x a.b  ');
  });
});

describe('describeInAll', () => {
  const none = { rooms: 0, shut: 0, rows: 0, bytes: 0, oldestAt: null };

  test('is a line for endpoints and one for destinations', () => {
    const endpoints = { rooms: 3, shut: 1, rows: 7, bytes: 2_048, oldestAt: at(1) };
    const destinations = { rooms: 1, shut: 0, rows: 1, bytes: 3 * 2 ** 20, oldestAt: at(2) };
    expect(describeInAll({ endpoints, destinations })).toEqual([
      'waiting for endpoints: 7 deliveries, 2.0 KiB, oldest since 2026-11-20T09:01:00.000Z, for 3 endpoints (1 shut)',
      'waiting for RabbitMQ: 1 publication, 3.0 MiB, oldest since 2026-11-20T09:02:00.000Z, for 1 destination',
    ]);
  });

  test('says where nothing waits', () => {
    expect(describeInAll({ endpoints: none, destinations: none })).toEqual([
      'waiting for endpoints: nothing',
      'waiting for RabbitMQ: nothing',
    ]);
  });
});

describe('describeStatus', () => {
  const idle: Status = {
    home: null,
    supervisor: null,
    processes: [],
    queues: [],
    missing: [],
    deliveries: { perMessage: null, oldestAgeSeconds: null, isEgressSuspected: null },
    policies: null,
    waiting: null,
    held: null,
    release: null,
    troubles: [],
  };
  const told = (what: Partial<Status>) => describeStatus({ ...idle, ...what });
  const service = { role: 'service', state: 'ready', pid: 7, restarts: 0, address: 'http://a' } as const;

  test('says of each process how it is, what it waits for and how often it was restarted', () => {
    const processes: Status['processes'] = [
      { ...service, name: 'deliverer', state: 'waiting', waitsFor: 'a, b, c, d', restarts: 2 },
      { ...service, name: 'api', pid: null },
    ];
    expect(told({ processes }).slice(0, 2)).toEqual([
      'deliverer  waiting (waits for a, b and 2 more)  pid 7  restarted 2×  http://a',
      'api        ready                                                     http://a',
    ]);
  });

  test('says that no services are named only where nobody else runs them', () => {
    const server = { ...service, name: 'rabbitmq', role: 'server' } as const;
    const supervisor = { pid: 1, state: 'ready' } as const;
    const unknown = 'METRICS_URLS names no services to ask whether they are ready';
    expect(told({ processes: [server] })).toContain(unknown);
    expect(told({ processes: [server], supervisor })).not.toContain(unknown);
    expect(told({ processes: [server, { ...service, name: 'api' }] })).not.toContain(unknown);
  });

  test('says of each queue what is in it, who takes from it, and how many deliveries travel in its messages', () => {
    const deliveries = { ...idle.deliveries, perMessage: 2.5 };
    const queues = [
      { name: 'waybell.deliveries.carrier.order.created', messages: 100, consumers: 2, isKnown: true },
      { name: 'waybell.outcomes.log', messages: 1, consumers: 3, isKnown: true },
      { name: 'waybell.events.router', messages: 0, consumers: 0, isKnown: true },
      { name: 'waybell.ends', messages: 0, consumers: 1, isKnown: true },
    ];
    expect(told({ queues, deliveries }).slice(2)).toEqual([
      'waybell.deliveries.carrier.order.created  100 messages (about 250 deliveries)  2 consumers',
      'waybell.outcomes.log                      1 message                            3 consumers',
      '1 of 4 queues are empty',
      'without a service that takes from them, or without a leader: waybell.events.router',
    ]);
    expect(told({ queues, deliveries: { ...deliveries, perMessage: 1.04 } })[2]).not.toContain('about');
  });

  test.each<[Partial<Status>, string]>([
    [{ missing: ['a', 'b', 'c'] }, 'not there (./waybell declare makes them): a, b and 1 more'],
    [{ policies: ['a policy'] }, 'a policy'],
    [
      { deliveries: { ...idle.deliveries, isEgressSuspected: true } },
      'most receivers cannot be connected to from here: look at our own network (failures to connect count against no receiver meanwhile)',
    ],
    [{ deliveries: { ...idle.deliveries, oldestAgeSeconds: 89.5 } }, 'the oldest delivery in hand was routed 90s ago'],
    [
      { held: 2 },
      'held: 2 subscriptions that would be switched off: so many fail at once that the fault may be ours (./waybell deactivations list, release, discard)',
    ],
    [{ release: '0.3.0' }, 'the tables are those of release 0.3.0'],
    [{ troubles: ['no broker'] }, 'no broker'],
  ])('says of %j no more than that', (what, line) => {
    expect(told(what)).toEqual([...told({}), line]);
  });
});
