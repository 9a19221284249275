import { describe, expect, jest, test } from '@jest/globals';
import { memoryStore } from './memory-store.ts';
import { aReceiver, request } from './testing/a-receiver.ts';

describe('a receiver', () => {
  test('may be given a store that is undefined', async () => {
    expect(await aReceiver({ handle: jest.fn(), store: undefined }).ask(request())).toEqual([200, 'handled']);
  });

  test('is of one of two interfaces', () => {
    expect(() => aReceiver({ handle: jest.fn(), interface: 'both' as never })).toThrow('not both');
  });

  test.each<[string, object]>([
    ['give one of', {}],
    ['give one of', { handle: jest.fn(), enqueue: jest.fn() }],
    ['"handle" must be a function', { handle: 'handle' }],
    ['"onTest" must be a function', { handle: jest.fn(), onTest: 'handled' }],
    ['"on" has order.teleported', { on: { 'order.teleported': jest.fn() }, otherwise: jest.fn() }],
    ['"on" has no function for order.assigned', { on: { 'order.created': jest.fn() } }],
    ['"on" has no function for order.created', { on: { 'order.created': 'x' }, otherwise: jest.fn() }],
    ['"handleWithinMs" must be a number above 0', { handle: jest.fn(), handleWithinMs: NaN }],
    ['"handleWithinMs" must be a number above 0', { handle: jest.fn(), handleWithinMs: 2 ** 31 }],
    ['"toleranceS" must be a number above 0', { handle: jest.fn(), toleranceS: '300' }],
    ['"toleranceS" must be a number above 0', { handle: jest.fn(), toleranceS: Infinity }],
    ['"leaseMs" must be a number above 0', { handle: jest.fn(), store: { ...memoryStore(), leaseMs: undefined } }],
    ['"store" has no renew', { handle: jest.fn(), store: { ...memoryStore(), renew: undefined } }],
  ])('says at the start: %s', (message, what) => {
    expect(() => aReceiver(what as never)).toThrow(message);
  });
});
