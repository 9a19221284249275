import { describe, expect, test } from '@jest/globals';
import type { Fate, Outgoing } from '../messages.ts';
import { delivery, FAILED, LACKING, record, to, ToldStep } from '../testing/told-step.ts';

const done = (...caused: Outgoing[]): Fate => ({ kind: 'done', caused });
const aStep = () => new ToldStep({ together: true });

/** Takes each as a source of its own, from 1 on, and runs their handler. */
function running(...texts: string[]): ToldStep {
  const step = aStep();
  step.cameTogether(...texts.map((text, place) => ({ source: place + 1, texts: [text] })));
  step.recalledTogether(...texts.map((text): [string, boolean] => [text, false]));
  return step;
}

describe('what comes together', () => {
  test('is recalled, run, sent, remembered and acknowledged together', () => {
    const step = aStep();
    const sources = [
      { source: 1, texts: ['one', 'two'] },
      { source: 2, texts: ['three'] },
    ];
    expect(step.cameTogether(...sources)).toEqual(['recall one,two,three']);
    expect(step.recalledTogether(['one', false], ['two', false], ['three', false])).toEqual(['run one,two,three']);
    const fates = ['one', 'two', 'three'].map((text): [string, Fate] => [text, done(delivery(`of ${text}`))]);
    expect(step.ended(...fates)).toEqual(['publish deliveries of one,of two,of three']);
    expect(step.confirmed('deliveries of one,of two,of three')).toEqual(['remember one,two,three']);
    expect(step.remembered('one', 'two', 'three')).toEqual(['report handled', 'acknowledge 1,2']);
    expect(step.state.members.size).toBe(0);
  });

  test('parts where one is known, one fails and one ends later', () => {
    const step = aStep();
    step.cameTogether(...['known', 'bad', 'late', 'good'].map((text, place) => ({ source: place, texts: [text] })));
    const recalled = step.recalledTogether(['known', true], ['bad', false], ['late', false], ['good', false]);
    expect(recalled).toEqual(['report handled', 'run bad,late,good', 'acknowledge 0']);
    expect(step.ended(['good', done()], ['bad', FAILED])).toEqual([
      'report failed',
      'publish suspect bad',
      'report handled',
      'acknowledge 3',
    ]);
    expect(step.ended(['late', done()])).toEqual(['report handled', 'acknowledge 2']);
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
    const step = aStep();
    step.cameTogether(...['first', 'second', 'third'].map((text, place) => ({ source: place, texts: [text] })));
    step.recalledTogether(['first', true]);
    expect(step.recalledTogether(['first', false], ['second', true], ['third', false])).toEqual([
      'report handled',
      'run third',
      'acknowledge 1',
    ]);
  });

  test('holds up its twins, those of the same batch too', () => {
    const step = aStep();
    expect(step.cameTogether({ source: 1, texts: ['a key', 'b key'] }, { source: 2, texts: ['c other'] })).toEqual([
      'recall a key,c other',
    ]);
    step.recalledTogether(['a key', false], ['c other', false]);
    expect(step.ended(['a key', done()], ['c other', done()])).toEqual([
      'report handled',
      'recall b key',
      'acknowledge 2',
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
    expect(step.threwForAll(['one', 'two', 'three', 'four'])).toEqual(['run apart one,two', 'run apart three,four']);
    expect(step.ended(['one', done()], ['two', done()])).toEqual(['report handled', 'acknowledge 1,2']);
    expect(step.threwForAll(['three', 'four'])).toEqual(['run apart three', 'run apart four']);
    expect(step.threwForAll(['three'])).toEqual(['report failed', 'publish suspect three']);
    expect(step.ended(['four', done()])).toEqual(['report handled', 'acknowledge 4']);
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
    expect(step.threwForAll(['one', 'two', 'three'])).toEqual(['forget 1', 'forget 2', 'run apart three']);
  });

  test('after the step gave its messages back is ignored', () => {
    const step = aStep();
    step.came(1, ['one'], { lane: 'suspects' });
    step.recalled('one', false);
    step.apply({ kind: 'closing' });
    expect(step.threwForAll(['one'], LACKING)).toEqual(['report given back', 'publish suspect one']);
    expect(step.threwForAll(['one'])).toEqual([]);
    expect(step.confirmed('suspect one')).toEqual(['report put aside', 'acknowledge 1']);
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
