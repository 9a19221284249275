import { describe, expect, test } from '@jest/globals';
import type { Fate, Outgoing } from '../messages.ts';
import { delivery, FAILED, LACKING, record, to, ToldStep } from '../testing/told-step.ts';

const done = (...caused: Outgoing[]): Fate => ({ kind: 'done', caused });
const aStep = () => new ToldStep({ together: true });

/** Takes each as a source of its own, from 1 on. */
function running(...texts: string[]): ToldStep {
  const step = aStep();
  step.cameTogether(...texts.map((text, place) => ({ source: place + 1, texts: [text] })));
  return step;
}

describe('what comes together', () => {
  test('is run, sent, remembered and acknowledged together', () => {
    const step = aStep();
    const sources = [
      { source: 1, texts: ['one', 'two'] },
      { source: 2, texts: ['three'] },
    ];
    expect(step.cameTogether(...sources)).toEqual(['run one,two,three']);
    expect(step.recalledTogether(['one', false], ['two', false], ['three', false])).toEqual([]);
    const fates = ['one', 'two', 'three'].map((text): [string, Fate] => [text, done(delivery(`of ${text}`))]);
    expect(step.ended(...fates)).toEqual(['publish deliveries of one,of two,of three']);
    expect(step.confirmed('deliveries of one,of two,of three')).toEqual(['remember one,two,three']);
    expect(step.remembered('one', 'two', 'three')).toEqual(['report handled', 'acknowledge 1,2']);
    expect(step.state.members.size).toBe(0);
  });

  test('parts where one is known, one fails and one ends later', () => {
    const step = running('known', 'bad', 'late', 'good');
    const recalled = step.recalledTogether(['known', true], ['bad', false], ['late', false], ['good', false]);
    expect(recalled).toEqual(['report handled', 'acknowledge 1']);
    expect(step.ended(['good', done()], ['bad', FAILED])).toEqual([
      'report failed',
      'publish suspect bad',
      'report handled',
      'acknowledge 4',
    ]);
    expect(step.ended(['late', done()])).toEqual(['report handled', 'acknowledge 3']);
  });

  test('has each know its own fate, though one has left before the fates come', () => {
    const step = running('first', 'second', 'third');
    step.ended(['first', done()]);
    expect(step.ended(['first', FAILED], ['second', done()], ['third', FAILED])).toEqual([
      'report failed',
      'publish suspect third',
      'report handled',
      'acknowledge 2',
    ]);
  });

  test('is known by its own mark, though one has left before the answers come', () => {
    const step = running('first', 'second', 'third');
    step.recalledTogether(['first', true]);
    expect(step.recalledTogether(['first', false], ['second', true], ['third', false])).toEqual([
      'report handled',
      'acknowledge 2',
    ]);
    expect([...step.state.members.values()].map(({ isRepeat, isRunning }) => ({ isRepeat, isRunning }))).toEqual([
      { isRepeat: false, isRunning: true },
    ]);
  });

  test('holds up its twins, those of the same batch too', () => {
    const step = aStep();
    expect(step.cameTogether({ source: 1, texts: ['a key', 'b key'] }, { source: 2, texts: ['c other'] })).toEqual([
      'run a key,c other',
    ]);
    expect(step.ended(['a key', done()], ['c other', done()])).toEqual([
      'report handled',
      'run b key',
      'acknowledge 2',
    ]);
  });

  test('holds up its twins until it is found to be a repeat, and lets go of those that were taken back meanwhile', () => {
    const step = running('a key', 'b key', 'c key');
    step.apply({ kind: 'cut', source: 2 });
    expect(step.recalled('a key', true)).toEqual(['report handled', 'forget 2', 'run c key', 'acknowledge 1']);
  });

  test('is given back with its twins', () => {
    const step = running('a key', 'b key');
    step.dependencyAway('a key');
    expect(step.apply({ kind: 'outlasted' })).toEqual([
      'report given back',
      'give back 1',
      'report given back',
      'give back 2',
    ]);
  });

  test('ends once, whatever is said of it later', () => {
    const step = running('one', 'two');
    expect(step.ended(['one', done(to('next'))], ['one', FAILED], ['two', done()], ['two', done()])).toEqual([
      'publish next',
      'report handled',
      'acknowledge 2',
    ]);
    expect(step.ended(['one', done(to('again'))])).toEqual([]);
    expect(step.confirmed('next')).toEqual(['remember one']);
  });
});

describe('a batch whose handler rejects', () => {
  test('is halved until the one that it rejects is alone, and that one is set aside', () => {
    const step = running('one', 'two', 'three', 'four');
    expect(step.threwForAll(['one', 'two', 'three', 'four'])).toEqual(['run alone one,two', 'run alone three,four']);
    expect(step.ended(['one', done()], ['two', done()])).toEqual(['report handled', 'acknowledge 1,2']);
    expect(step.threwForAll(['three', 'four'])).toEqual(['run alone three', 'run alone four']);
    expect(step.threwForAll(['three'])).toEqual(['report failed', 'publish suspect three']);
    expect(step.ended(['four', done()])).toEqual(['report handled', 'acknowledge 4']);
  });

  test('is none of its repeats, which end as such, and never the last that is left: a repeat may be the guilty one', () => {
    const step = running('repeat', 'one');
    expect(step.recalled('repeat', true)).toEqual(['report handled', 'acknowledge 1']);
    expect(step.threwForAll(['repeat', 'one'])).toEqual(['run alone one']);
    expect(step.threwForAll(['one'])).toEqual(['report failed', 'publish suspect one']);
  });

  test('is none of its repeats while what they cause is under way', () => {
    const step = running('told', 'one', 'two');
    expect(step.recalled('told', true)).toEqual(['publish again told']);
    expect(step.threwForAll(['told', 'one', 'two'])).toEqual(['run alone one', 'run alone two']);
    expect(step.ended(['told', done(to('next'))])).toEqual([]);
    expect(step.confirmed('again told')).toEqual(['report handled', 'acknowledge 1']);
  });

  test('is left to wait without its repeats where what it needs is away', () => {
    const step = running('repeat', 'one', 'two');
    step.recalled('repeat', true);
    expect(step.threwForAll(['repeat', 'one', 'two'], LACKING)).toEqual([]);
    expect(step.apply({ kind: 'back' })).toEqual(['run one,two']);
    expect(step.recalledTogether(['one', true], ['two', false])).toEqual(['report handled', 'acknowledge 2']);
  });

  test('of repeats alone waits for nothing', () => {
    const step = running('one', 'two');
    step.recalledTogether(['one', true], ['two', true]);
    expect(step.threwForAll(['one', 'two'], LACKING)).toEqual([]);
    expect(step.state.outage).toBe('none');
  });

  test('waits as a whole where what it needs is away, and runs again as a whole', () => {
    const step = running('one', 'two', 'three');
    expect(step.threwForAll(['one', 'two', 'three'], LACKING)).toEqual([]);
    expect(step.apply({ kind: 'back' })).toEqual(['run one,two,three']);
  });

  test('runs again without those that another process has meanwhile', () => {
    const step = running('one', 'two', 'three');
    step.apply({ kind: 'cut', source: 1 });
    step.apply({ kind: 'cut', source: 2 });
    expect(step.threwForAll(['one', 'two', 'three'])).toEqual(['forget 1', 'forget 2', 'run alone three']);
  });

  test('or is recalled after the step gave its messages back is ignored', () => {
    const step = aStep();
    step.came(1, ['told'], { lane: 'suspects' });
    step.apply({ kind: 'closing' });
    expect(step.threwForAll(['told'], LACKING)).toEqual(['report given back', 'publish suspect told']);
    expect(step.threwForAll(['told'])).toEqual([]);
    expect(step.recalled('told', true)).toEqual([]);
    expect(step.confirmed('suspect told')).toEqual(['report put aside', 'acknowledge 1']);
  });
});

describe('deliveries that travel together', () => {
  const sent = (...names: string[]) => {
    const step = running(...names);
    step.ended(...names.map((name): [string, Fate] => [name, done(delivery(`to ${name}`))]));
    return step;
  };

  test('are sent again, when they are not confirmed, without those that another process has by now', () => {
    const step = sent('one', 'two', 'three');
    step.apply({ kind: 'cut', source: 2 });
    expect(step.sent('deliveries to one,to two,to three', 'unconfirmed')).toEqual([
      'publish deliveries to one,to three after 50',
      'forget 2',
    ]);
    expect(step.confirmed('deliveries to one,to three')).toEqual(['remember one,three']);
  });

  test('are given up when they are not confirmed and nobody here has their messages', () => {
    const step = sent('one', 'two');
    for (const source of [1, 2]) step.apply({ kind: 'cut', source });
    expect(step.sent('deliveries to one,to two', 'unconfirmed')).toEqual(['forget 1', 'forget 2']);
  });

  test('fail all of their messages where they are refused', () => {
    const step = sent('one', 'two');
    expect(step.sent('deliveries to one,to two', 'refused')).toEqual([
      'report failed',
      'publish suspect one',
      'report failed',
      'publish suspect two',
    ]);
  });

  test('wait in a room together where their queue stalls, and all of their messages go', () => {
    const step = sent('one', 'two');
    expect(step.sent('deliveries to one,to two', 'stalled')).toEqual(['put deliveries to one,to two']);
    expect(step.confirmed('deliveries to one,to two')).toEqual(['remember one,two']);
  });

  test('leave only with those of the same turn, and their records later', () => {
    const step = running('one', 'two', 'three');
    const both = (name: string): [string, Fate] => [name, done(delivery(`to ${name}`), record(name))];
    expect(step.ended(both('one'), both('two'))).toEqual(['flush later', 'publish deliveries to one,to two']);
    expect(step.ended(both('three'))).toEqual(['publish deliveries to three']);
    expect(step.apply({ kind: 'flush due' })).toEqual(['publish records one,two,three']);
    expect(step.confirmed('deliveries to one,to two', 'records one,two,three')).toEqual(['remember one,two']);
  });
});
