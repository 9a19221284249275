import { describe, expect, test } from '@jest/globals';
import { SimulatedAdmission, type Arriving } from './admission.ts';

/** Due times are whole milliseconds. */
const AT_ONCE_MS = 50;

const after = (ms: number) => () => ms;
const never = () => Infinity;

/** A shipper's delivery, to an endpoint of its own account and host if not said otherwise. */
function to(
  account: string,
  {
    host = account,
    path = '',
    ...what
  }: Omit<Arriving, 'key' | 'limitMs'> & { host?: string; path?: string; limitMs?: number },
): Arriving {
  return { key: { account, host, endpoint: `${account} ${host}${path}` }, limitMs: 60_000, ...what };
}

describe('a delivery is attempted at once', () => {
  test('beside 30 endpoints that answer late and have more than they can take', async () => {
    const all = new SimulatedAdmission();
    all.every(2, (turn) => all.arrive(to(`fast ${turn % 100}`, { kind: 'fast', answerMs: after(20) })));
    all.every(1, (turn) => all.arrive(to(`slow ${turn % 30}`, { kind: 'slow', answerMs: after(1_500) })));
    await all.run(60_000);
    const fast = all.lateness('fast', { from: 15_000, until: 60_000, mayWaitMs: AT_ONCE_MS });
    expect(fast).toEqual({ due: 22_500, unattempted: 0, late: 0 });
  });

  test('after a restart, when 10,000 endpoints are new and 500 of them never answer', async () => {
    const all = new SimulatedAdmission();
    all.every(1, (turn) => {
      const number = (turn * 7_919) % 10_000;
      const isDead = number % 20 === 0;
      all.arrive(
        to(`${number}`, isDead ? { kind: 'dead', answerMs: never } : { kind: 'healthy', answerMs: after(20) }),
      );
    });
    await all.run(56_000);
    const healthy = all.lateness('healthy', { from: 0, until: 55_000, mayWaitMs: AT_ONCE_MS });
    expect(healthy).toEqual({ due: 52_249, unattempted: 0, late: 0 });
  });

  test('or at the next probe, to what was away, beside 4,000 dead ones of one account', async () => {
    const all = new SimulatedAdmission();
    all.every(10, (turn) => all.arrive(to('dead', { host: `${turn % 4_000}`, kind: 'dead', answerMs: never })));
    const away = { from: 30_000, until: 60_000 };
    all.every(250, (turn) => {
      if (turn * 250 < away.from) return;
      const answerMs = (at: number) => (at < away.until ? Infinity : 20);
      all.arrive(to(`back ${turn % 20}`, { kind: 'back', limitMs: 3_000, answerMs }));
    });
    await all.run(180_000);
    const times = { from: away.until, until: 175_000 };
    expect(all.lateness('back', { ...times, mayWaitMs: 5_600 })).toEqual({ due: 460, unattempted: 0, late: 0 });
  });

  test('beside 10,000 new endpoints of one account that answer after 0.9 s', async () => {
    const all = new SimulatedAdmission();
    all.every(1, (turn) => {
      const number = turn % 10_000;
      all.arrive(to('one', { host: `${number % 500}`, path: `/${number}`, kind: 'one', answerMs: after(900) }));
    });
    all.every(100, (turn) => all.arrive(to(`other ${turn}`, { kind: 'other', answerMs: after(20) })));
    await all.run(30_000);
    const other = all.lateness('other', { from: 0, until: 28_000, mayWaitMs: 150 });
    expect(other).toEqual({ due: 279, unattempted: 0, late: 0 });
  });

  test('or within a second, after a restart, when 10,000 accounts are new at one host that answers after 0.3 s', async () => {
    const all = new SimulatedAdmission();
    all.every(1, (turn) => {
      const name = `${(turn * 7_919) % 10_000}`;
      all.arrive(to(name, { host: 'shared', kind: 'all', answerMs: after(300) }));
    });
    await all.run(20_000);
    const each = all.lateness('all', { from: 0, until: 18_000, mayWaitMs: 1_000 });
    expect(each).toEqual({ due: 17_999, unattempted: 0, late: 0 });
  });

  test('or within 350 ms, beside 1,000 late ones of one account', async () => {
    const all = new SimulatedAdmission();
    all.every(2, (turn) => all.arrive(to('one', { host: `${turn % 1_000}`, kind: 'one', answerMs: after(1_500) })));
    all.every(100, (turn) => all.arrive(to(`other ${turn % 20}`, { kind: 'other', answerMs: after(1_500) })));
    await all.run(30_000);
    const other = all.lateness('other', { from: 10_000, until: 28_000, mayWaitMs: 350 });
    expect(other).toEqual({ due: 180, unattempted: 0, late: 0 });
  });

  test('to ten accounts, beside 4,000 of another that come at once', async () => {
    const all = new SimulatedAdmission();
    const oneOf = (number: number) => to('one', { host: `${number % 1_000}`, kind: 'one', answerMs: after(900) });
    for (let number = 0; number < 4_000; number += 1) all.arrive(oneOf(number));
    for (let number = 0; number < 10; number += 1) {
      all.arrive(to(`other ${number}`, { kind: 'other', answerMs: after(20) }));
    }
    await all.run(10_000);
    const other = all.lateness('other', { from: 0, until: 1, mayWaitMs: AT_ONCE_MS });
    expect(other).toEqual({ due: 10, unattempted: 0, late: 0 });
  });
});
