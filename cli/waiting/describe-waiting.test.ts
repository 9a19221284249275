import { describe, expect, test } from '@jest/globals';
import type { WaitingEndpoint } from '@waybell/subscription-api/waiting-rooms';
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
    const destinations = { rooms: 1, shut: 0, rows: 1, bytes: 10, oldestAt: at(2) };
    expect(describeInAll({ endpoints, destinations })).toEqual([
      'waiting for endpoints: 7 deliveries, 2.0 KiB, oldest since 2026-11-20T09:01:00.000Z, for 3 endpoints (1 shut)',
      'waiting for RabbitMQ: 1 publication, 10 bytes, oldest since 2026-11-20T09:02:00.000Z, for 1 destination',
    ]);
  });

  test('says where nothing waits', () => {
    expect(describeInAll({ endpoints: none, destinations: none })).toEqual([
      'waiting for endpoints: nothing',
      'waiting for RabbitMQ: nothing',
    ]);
  });
});
