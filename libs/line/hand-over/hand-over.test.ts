import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { delivery, end, FAILED, LACKING, record, to, ToldStep, waits } from '../testing/told-step.ts';
import { Interleaving } from '../testing/interleaving.ts';

describe('a source with several members', () => {
  test('is acknowledged when the last of them is done with', () => {
    const step = new ToldStep();
    expect(step.take(1, 'one', 'two')).toEqual(['run one', 'run two']);
    expect(step.returned('two')).toEqual(['report handled']);
    expect(step.returned('one')).toEqual(['report handled', 'acknowledge 1']);
  });

  test('is given back if all of them are, when the last of them is done with', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.dependencyAway('one');
    step.dependencyAway('two');
    expect(step.apply({ kind: 'outlasted' })).toEqual(['report given back', 'report given back', 'give back 1']);
  });

  test('is acknowledged if some of them are, once each of these is in its queue by itself', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two', 'three');
    step.dependencyAway('one');
    step.dependencyAway('two');
    step.apply({ kind: 'outlasted' });
    expect(step.returned('three')).toEqual(['report handled', 'publish one', 'publish two']);
    expect(step.sent('two', 'confirmed')).toEqual(['report given back']);
    expect(step.sent('one', 'unconfirmed')).toEqual(['publish one after 50']);
    expect(step.sent('one', 'confirmed')).toEqual(['report given back', 'acknowledge 1']);
  });

  test('is let go if it was taken back, whatever became of them', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.dependencyAway('one');
    step.apply({ kind: 'cut', source: 1 });
    expect(step.returned('two')).toEqual(['report handled', 'forget 1']);
  });

  test('that came too often is not handled: each of them comes again by itself', () => {
    const step = new ToldStep();
    expect(step.came(1, ['one', 'two'], { crashes: 3 })).toEqual(['publish one', 'publish two']);
    step.sent('one', 'confirmed');
    expect(step.sent('two', 'confirmed')).toEqual(['report given back', 'acknowledge 1']);
  });
});

describe('a batch with a member that takes long', () => {
  test('is acknowledged once that is kept somewhere else, and what keeps it when it is done with', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    expect(step.returned('two')).toEqual(['report handled']);
    expect(step.slow(1)).toEqual(['store one']);
    expect(step.slow(1)).toEqual([]);
    expect(step.stored('one', 2)).toEqual(['acknowledge 1']);
    expect(step.returned('one')).toEqual(['report handled', 'acknowledge 2']);
  });

  test('stays where nothing can keep it, and is asked for again', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    expect(step.slow(1)).toEqual(['store one', 'store two']);
    expect(step.stored('one', undefined)).toEqual([]);
    expect(step.slow(1)).toEqual(['store one']);
  });

  test('and that has ended meanwhile stays where it is kept, and is recognised there', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.returned('two');
    step.slow(1);
    expect(step.returned('one')).toEqual(['report handled', 'acknowledge 1']);
    expect(step.stored('one', 2)).toEqual(['give back 2']);
  });

  test('stays where it is kept if its batch was taken back, and not all that it causes got out before', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.slow(1);
    step.returned('one', delivery('retry'), record('record'));
    step.apply({ kind: 'flush due' });
    step.apply({ kind: 'cut', source: 1 });
    expect(step.sent('deliveries retry', 'unconfirmed')).toEqual([]);
    expect(step.stored('one', 2)).toEqual(['give back 2']);
    expect(step.sent('records record', 'confirmed')).toEqual([]);
  });

  test('and that is to wait leaves with its batch: the row where it is kept may be the one where it waits', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.returned('two');
    step.slow(1);
    expect(step.returned('one', waits('later'))).toEqual(['put later']);
    expect(step.stored('one', 2)).toEqual(['give back 2']);
    expect(step.sent('later', 'confirmed')).toEqual(['report handled', 'acknowledge 1']);
  });

  test('stays if it came before: what keeps it would be taken for what another process keeps', () => {
    const step = new ToldStep();
    expect(step.came(1, ['one', 'two'], { deliveryCount: 1 })).toEqual(['run one', 'run two']);
    expect(step.slow(1)).toEqual([]);
  });

  test('goes back to where it is kept if it cannot go on', () => {
    const step = new ToldStep();
    step.take(1, 'one', 'two');
    step.slow(1);
    step.stored('one', 2);
    step.dependencyAway('one');
    expect(step.apply({ kind: 'outlasted' })).toEqual(['report given back', 'give back 2']);
    expect(step.returned('two')).toEqual(['report handled', 'acknowledge 1']);
  });
});

describe('a message that not even the suspects lane takes', () => {
  test('is given back, after a pause', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    expect(step.threw('one')).toEqual(['report failed', 'publish suspect one']);
    expect(step.sent('suspect one', 'refused')).toEqual(['report stuck', 'give back 1 after 1000']);
  });
});

describe('what is to wait in a room', () => {
  test('is put and waited for, and only then does its message go, which is not remembered', () => {
    const step = new ToldStep({ hasRooms: false });
    step.take(1, 'one');
    expect(step.returned('one', waits('later'))).toEqual(['put later']);
    expect(step.sent('later', 'unconfirmed')).toEqual(['put later after 50']);
    expect(step.sent('later', 'confirmed')).toEqual(['report handled', 'acknowledge 1']);
  });
});

describe('what waited in a room', () => {
  const waited = { waited: { room: '', why: 'full' } } as const;

  test('ends without a trace, well or badly, if another process has claimed the room: that one attempts it', () => {
    for (const fate of [{ kind: 'done', caused: [to('next'), record('one')] } as const, FAILED, LACKING]) {
      const step = new ToldStep();
      step.came(1, ['one'], waited);
      expect(step.apply({ kind: 'cut', source: 1 })).toEqual([]);
      expect(step.ended(['one', fate])).toEqual(['forget 1']);
    }
  });

  test("and ended while its room was claimed here is on record, though the room is another process's by then", () => {
    const step = new ToldStep();
    step.came(1, ['one'], waited);
    step.returned('one', to('next'), record('one'));
    step.apply({ kind: 'cut', source: 1 });
    step.apply({ kind: 'flush due' });
    expect(step.sent('records one', 'unconfirmed')).toEqual(['publish records one after 50']);
  });
});

describe('a source that is cut', () => {
  test('while it waits for a dependency is let go', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    expect(step.dependencyAway('one')).toEqual([]);
    expect(step.apply({ kind: 'cut', source: 1 })).toEqual(['forget 1']);
    expect(step.apply({ kind: 'back' })).toEqual([]);
  });

  test('while it is handled is never acknowledged, and what it caused is remembered', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    expect(step.apply({ kind: 'cut', source: 1 })).toEqual([]);
    expect(step.returned('one', to('next'))).toEqual(['publish next']);
    expect(step.sent('next', 'confirmed')).toEqual(['remember one']);
    expect(step.remembered('one')).toEqual(['report handled', 'forget 1']);
  });
});

describe('records', () => {
  test('travel 400 to a batch, and the rest when it is due', () => {
    const step = new ToldStep();
    const names = Array.from({ length: 401 }, (_, place) => String(place));
    step.take(1, ...names);
    const said = names.flatMap((name) => step.returned(name, record(name)));
    expect(said).toEqual(['flush later', `publish records ${names.slice(0, 400).join()}`, 'flush later']);
    expect(step.apply({ kind: 'flush due' })).toEqual(['publish records 400']);
  });

  test('that no queue takes fail each of the messages they are of, and no other', () => {
    const step = new ToldStep();
    for (const [place, name] of ['one', 'two', 'three'].entries()) step.take(place, name);
    step.returned('one', record('one'));
    step.returned('two', record('two'));
    step.apply({ kind: 'flush due' });
    step.returned('three', record('three'));
    const aside = (name: string) => ['report failed', `publish suspect ${name}`];
    expect(step.sent('records one,two', 'refused')).toEqual([...aside('one'), ...aside('two')]);
    expect(step.apply({ kind: 'flush due' })).toEqual(['publish records three']);
    expect(step.sent('records three', 'confirmed')).toEqual(['remember three']);
  });
});

describe('ends', () => {
  test('leave with records, by themselves, and their message goes when both are safe', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    expect(step.returned('one', record('one'), end('one'))).toEqual(['flush later']);
    expect(step.apply({ kind: 'flush due' })).toEqual(['publish records one', 'publish ends one']);
    expect(step.sent('records one', 'confirmed')).toEqual([]);
    expect(step.sent('ends one', 'unconfirmed')).toEqual(['publish ends one after 50']);
    expect(step.sent('ends one', 'confirmed')).toEqual(['remember one']);
  });

  test('that no queue takes fail their messages, and no other', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.take(2, 'two');
    step.returned('one', record('one'), end('one'));
    step.returned('two', record('two'));
    step.apply({ kind: 'flush due' });
    step.sent('records one,two', 'confirmed');
    expect(step.sent('ends one', 'refused')).toEqual(['report failed', 'publish suspect one']);
  });

  test('are sent again though the messages are gone', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.returned('one', end('one', false));
    step.apply({ kind: 'flush due' });
    step.apply({ kind: 'cut', source: 1 });
    expect(step.sent('ends one', 'unconfirmed')).toEqual(['publish ends one after 50']);
  });
});

describe('what is not confirmed', () => {
  test('is sent again, ever later, while that is held for which it is sent; then it is given up', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.returned('one', to('next'));
    for (const delayMs of [50, 100, 200, 400, 800, 1_000, 1_000]) {
      expect(step.sent('next', 'unconfirmed')).toEqual([`publish next after ${delayMs}`]);
    }
    step.apply({ kind: 'cut', source: 1 });
    expect(step.sent('next', 'unconfirmed')).toEqual(['forget 1']);
  });

  test.each<[string, (step: ToldStep) => string[]]>([
    ['its queue stalls', (step) => step.sent('next', 'stalled')],
    ['its queue is missing', (step) => step.sent('next', 'unbound')],
    ['the broker blocks', (step) => step.apply({ kind: 'broker', is: 'blocked' })],
  ])('is put into no room, where %s, once another process has the message', (_, happens) => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.returned('one', to('next'));
    step.apply({ kind: 'cut', source: 1 });
    expect(happens(step)).toEqual(['forget 1']);
  });

  test('is sent again though the messages are gone, if it is records, until the step is to end', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.take(2, 'two');
    step.returned('one', record('one'));
    step.returned('two', record('two'));
    step.apply({ kind: 'flush due' });
    for (const source of [1, 2]) step.apply({ kind: 'cut', source });
    expect(step.sent('records one,two', 'unconfirmed')).toEqual(['publish records one,two after 50']);
    step.apply({ kind: 'closing' });
    expect(step.sent('records one,two', 'unconfirmed')).toEqual(['forget 1', 'forget 2']);
  });
});

describe('what a message causes in parts', () => {
  const inParts = (...parts: string[]) => {
    const left = parts.map((text) => [to(text)]);
    const seen = { ended: 0 };
    return { seen, next: () => left.shift(), end: () => void (seen.ended += 1) };
  };

  test('is asked for a part at a time, the next once the one before is safe, and remembered after the last', () => {
    const [step, parts] = [new ToldStep(), inParts('one', 'two')];
    step.take(1, 'event');
    expect(step.returnedInParts('event', parts)).toEqual(['publish one']);
    expect(step.sent('one', 'confirmed')).toEqual(['publish two']);
    expect(parts.seen.ended).toBe(0);
    expect(step.sent('two', 'confirmed')).toEqual(['remember event']);
    expect(step.remembered('event')).toEqual(['report handled', 'acknowledge 1']);
    expect(parts.seen.ended).toBe(1);
  });

  test('is not asked for any more once another process has the message', () => {
    const [step, parts] = [new ToldStep(), inParts('one', 'two')];
    step.take(1, 'event');
    step.returnedInParts('event', parts);
    step.apply({ kind: 'cut', source: 1 });
    expect(step.sent('one', 'confirmed')).toEqual(['forget 1']);
    expect(parts.seen.ended).toBe(1);
  });

  test('is left to others once the step is to end', () => {
    const [step, parts] = [new ToldStep(), inParts('one', 'two')];
    step.take(1, 'event');
    step.returnedInParts('event', parts);
    step.apply({ kind: 'closing' });
    expect(step.sent('one', 'confirmed')).toEqual(['report given back', 'give back 1']);
    expect(parts.seen.ended).toBe(1);
  });

  test('fails its message where the next cannot be made', () => {
    const step = new ToldStep();
    const parts = inParts('one');
    step.take(1, 'event');
    step.returnedInParts('event', {
      ...parts,
      next: () => {
        const part = parts.next();
        if (part === undefined) throw new Error('a bug');
        return part;
      },
    });
    expect(step.sent('one', 'confirmed')).toEqual(['report failed', 'publish suspect event']);
    step.sent('suspect event', 'confirmed');
    expect(parts.seen.ended).toBe(1);
  });
});

describe('what may have been in hand when processes died', () => {
  test.each([
    ['is handled after four', { deliveryCount: 4, crashes: 4 }, 'run one'],
    ['is set aside after five', { deliveryCount: 5, crashes: 5 }, 'publish suspect one'],
    ['is handled however often it returned from this process', { deliveryCount: 9, crashes: 4 }, 'run one'],
    ['is handled, of a room, after two', { waited: { room: '', why: 'full' }, crashes: 2 }, 'run one'],
    ['is set aside, of a room, after three', { waited: { room: '', why: 'full' }, crashes: 3 }, 'publish suspect one'],
    ['is handled as a suspect after four', { lane: 'suspects', deliveryCount: 4, crashes: 4 }, 'run one'],
    ['is rejected as a suspect after five', { lane: 'suspects', deliveryCount: 5, crashes: 5 }, 'publish rejected one'],
    [
      'goes to the end of the suspects lane where it returned from this process: no other counts that',
      { lane: 'suspects', deliveryCount: 6, crashes: 5 },
      'publish suspect one',
    ],
  ] as const)('%s', (_what, how, effect) => {
    const step = new ToldStep();
    expect(step.came(1, ['one'], how)).toEqual([effect]);
  });
});

test('a suspect that is given back goes to the end of its lane: it would soon look like one that kills its process', () => {
  const step = new ToldStep();
  step.came(1, ['one'], { lane: 'suspects' });
  step.dependencyAway('one');
  expect(step.apply({ kind: 'outlasted' })).toEqual(['report given back', 'publish suspect one']);
  expect(step.sent('suspect one', 'confirmed')).toEqual(['report put aside', 'acknowledge 1']);
});

test('what comes once the step is to end is given back, whole and unhandled', () => {
  const step = new ToldStep();
  step.apply({ kind: 'closing' });
  expect(step.came(1, ['one', 'two'])).toEqual(['give back 1']);
  expect(step.state.members.size).toBe(0);
});

describe('what the broker does not take waits in a room, and its message goes', () => {
  test('while it blocks: what waits for its confirm, and all that follows', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.take(2, 'two');
    step.returned('one', to('next'));
    expect(step.apply({ kind: 'broker', is: 'blocked' })).toEqual(['put next']);
    expect(step.returned('two', record('two'))).toEqual(['flush later']);
    expect(step.apply({ kind: 'flush due' })).toEqual(['put records two']);
    expect(step.sent('next', 'confirmed')).toEqual(['remember one']);
    expect(step.sent('records two', 'confirmed')).toEqual(['remember two']);
    expect(step.take(3, 'three')).toEqual(['run three']);
  });

  test('while it blocks, and is still safe where the connection is lost that it went out by before', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.returned('one', to('next'));
    step.apply({ kind: 'broker', is: 'blocked' });
    expect(step.sent('next', 'unconfirmed')).toEqual([]);
    expect(step.sent('next', 'confirmed')).toEqual(['remember one']);
  });

  test('and is tried again where no room takes it, there or by then with the broker', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.apply({ kind: 'broker', is: 'blocked' });
    expect(step.returned('one', to('next'))).toEqual(['put next']);
    expect(step.sent('next', 'unconfirmed')).toEqual(['put next after 50']);
    step.apply({ kind: 'broker', is: 'writable' });
    expect(step.sent('next', 'unconfirmed')).toEqual(['publish next after 100']);
    expect(step.sent('next', 'confirmed')).toEqual(['remember one']);
  });

  test('where its queue stalls or is missing', () => {
    const step = new ToldStep();
    for (const [source, fate] of [
      [1, 'stalled'],
      [2, 'unbound'],
    ] as const) {
      step.take(source, fate);
      step.returned(fate, to(`to ${fate}`));
      expect(step.sent(`to ${fate}`, fate)).toEqual([`put to ${fate}`]);
      expect(step.sent(`to ${fate}`, 'confirmed')).toEqual([`remember ${fate}`]);
    }
  });

  test('and fails its message where no room can take it either', () => {
    const step = new ToldStep();
    step.take(1, 'one');
    step.returned('one', to('next'));
    step.sent('next', 'unbound');
    expect(step.sent('next', 'refused')).toEqual(['report failed', 'publish suspect one']);
  });

  test('by a step that waits for the broker only when it is to end, be that away or not', () => {
    for (const is of ['blocked', 'away'] as const) {
      const step = new ToldStep({ drainsWhileBlocked: false });
      step.take(1, 'one');
      step.returned('one', to('next'));
      expect(step.apply({ kind: 'broker', is })).toEqual([]);
      expect(step.apply({ kind: 'closing' })).toEqual(['put next']);
      expect(step.sent('next', 'confirmed')).toEqual(['remember one']);
    }
  });

  test('unless it may be lost: that is let go of where its queue is missing, or does not take it again and again', () => {
    const step = new ToldStep({ hasRooms: false });
    const notice = { ...to('notice'), mayBeLost: true } as const;
    step.take(1, 'one', 'two');
    step.returned('one', notice);
    expect(step.sent('notice', 'unbound')).toEqual(['remember one']);
    step.returned('two', notice);
    for (const pauseMs of [50, 100, 200, 400, 800, 1_000])
      expect(step.sent('notice', 'unconfirmed')).toEqual([`publish notice after ${pauseMs}`]);
    expect(step.sent('notice', 'unconfirmed')).toEqual(['remember two']);
  });

  test('and what may be lost is not, while the broker is away', () => {
    const step = new ToldStep({ hasRooms: false });
    step.take(1, 'one');
    step.returned('one', { ...to('notice'), mayBeLost: true });
    step.apply({ kind: 'broker', is: 'away' });
    for (let times = 0; times < 10; times += 1)
      expect(step.sent('notice', 'unconfirmed')).toEqual([expect.stringContaining('publish notice after')]);
    expect(step.sent('notice', 'confirmed')).toEqual(['remember one']);
  });

  test('of no step that has no room', () => {
    const step = new ToldStep({ hasRooms: false });
    step.take(1, 'one');
    step.returned('one', to('next'));
    expect(step.apply({ kind: 'broker', is: 'blocked' })).toEqual([]);
    expect(step.sent('next', 'stalled')).toEqual(['publish next after 50']);
    expect(step.sent('next', 'unbound')).toEqual(['report failed', 'publish suspect one']);
  });
});

describe('whatever happens, in whatever order', () => {
  test('no source is acknowledged before all is safe and remembered that its members caused, and each ends once', () => {
    const kept = fc.property(fc.array(fc.nat(), { minLength: 20, maxLength: 200, size: 'max' }), (draws) => {
      const interleaving = new Interleaving();
      for (const draw of draws) interleaving.goOn(draw);
      interleaving.end();
      expect(interleaving.broken).toEqual([]);
    });
    fc.assert(kept, { numRuns: 1_000 });
  });
});
