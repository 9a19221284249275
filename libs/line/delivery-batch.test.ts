import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aDelivery } from './testing/a-delivery.ts';
import { anyCharacter } from './testing/any-character.ts';
import { readMessage } from './broker/amqp-message.ts';
import {
  asSent,
  countMembers,
  isDeliveryBatch,
  joinDeliveries,
  openBatch,
  readMembers,
  readRow,
  rejectBatch,
  writeRow,
} from './delivery-batch.ts';
import { CRASHES_UNOPENED } from './hand-over/suspicion.ts';
import type { CarriedDelivery, Message, Publication } from './messages.ts';

function delivery(name: string, { to = 'carrier.order.created', body = name, traceparent = '' } = {}): Publication {
  const bytes = Buffer.from(body);
  const carried = aDelivery({ guid: name, action: to.replace('carrier.', ''), body: bytes });
  return {
    kind: 'publish',
    exchange: 'waybell.deliveries',
    routingKey: to,
    body: bytes,
    delivery: traceparent === '' ? carried : { ...carried, traceparent },
  };
}

const joined = (...all: Publication[]) => joinDeliveries(all.map((publication) => ({ publication })));

/** Builds the message that comes from the queue. */
function arrived(publication: Publication, deliveryCount = 0): Message {
  const { exchange, routingKey, body, messageId, type, note, contentType, headers } = publication;
  return readMessage(`q.${routingKey}`, {
    content: body,
    fields: { exchange, routingKey, redelivered: deliveryCount > 0, deliveryTag: 1, consumerTag: '' },
    properties: {
      messageId,
      type,
      contentType,
      correlationId: note,
      headers: { ...headers, 'x-delivery-count': deliveryCount },
    },
  } as never);
}

const only = <T>(all: readonly T[]): T => {
  const [first] = all;
  if (first === undefined || all.length > 1) throw new Error(`there are ${all.length}`);
  return first;
};

const out = (...all: Publication[]) => joined(...all).flatMap(({ publication }) => openBatch(arrived(publication)));

describe('deliveries that are joined', () => {
  test('come out as they went in, in the order of their queue, whatever is in them', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 200 });
    const member = fc.record({
      name: fc.string({ unit: anyCharacter, maxLength: 60 }),
      to: fc.constantFrom('carrier.order.created', 'carrier.order.delivered'),
      body: text,
      traceparent: fc.constantFrom('', '00-aa-bb-01'),
    });
    const isKept = fc.property(fc.array(member, { maxLength: 40 }), (members) => {
      const came = Map.groupBy(
        out(...members.map(({ name, ...rest }) => delivery(name, rest))),
        ({ routingKey }) => routingKey,
      );
      for (const [to, sent] of Map.groupBy(members, (each) => each.to)) {
        expect(came.get(to)).toEqual(
          sent.map(({ name, body, traceparent }) => ({
            queue: `q.${to}`,
            exchange: 'waybell.deliveries',
            routingKey: to,
            body: Buffer.from(body),
            delivery: delivery(name, { to, body, traceparent }).delivery,
            messageId: name,
            type: to,
            note: expect.stringMatching(/^1 \d+$/),
            contentType: 'application/json',
            deliveryCount: 0,
            failures: 0,
            ...(traceparent !== '' && { traceparent }),
          })),
        );
        came.delete(to);
      }
      expect(came.size).toBe(0);
    });
    fc.assert(isKept);
  });

  test('are at most 16, to one exchange and key, and 64 KiB of bodies; what is larger travels alone', () => {
    const sizes = (...all: Publication[]) => joined(...all).map(({ members }) => members.length);
    const many = Array.from({ length: 40 }, (_, place) => delivery(String(place)));
    expect(sizes(...many)).toEqual([16, 16, 8]);
    const retry: Publication = { ...delivery('d'), exchange: 'waybell.retry' };
    const apart = joined(delivery('a'), delivery('b', { to: 'carrier.order.delivered' }), delivery('c'), retry);
    expect(apart.map(({ publication, members }) => [publication.routingKey, members.length])).toEqual([
      ['carrier.order.created', 2],
      ['carrier.order.delivered', 1],
      ['carrier.order.created', 1],
    ]);
    const half = (name: string, more = '') => delivery(name, { body: name.repeat(2 ** 15) + more });
    expect(sizes(half('a'), half('b'), delivery('c', { body: '' }), half('d'))).toEqual([3, 1]);
    expect(sizes(half('a'), half('b', '!'))).toEqual([1, 1]);
    const large = delivery('b', { body: 'b'.repeat(2 ** 20) });
    expect(sizes(delivery('a'), large, delivery('c'))).toEqual([1, 1, 1]);
    expect(only(out(large)).body).toEqual(large.body);
  });

  test('share the bytes of a body that several have', () => {
    const body = Buffer.from('x'.repeat(10_000));
    const members = Array.from({ length: 16 }, (_, place) => ({ ...delivery(String(place)), body }));
    expect(only(joined(...members)).publication.body.length).toBeLessThan(12_000);
    const [first, ...others] = out(...members);
    expect(first?.body).toEqual(body);
    expect(others.every((message) => message.body === first?.body)).toBe(true);
  });

  test('keep none of the others in memory, where they are much larger', () => {
    const [small, large] = out(delivery('a'), delivery('b', { body: 'b'.repeat(60_000) }));
    expect(large?.body.buffer).not.toBe(small?.body.buffer);
  });

  test('are kept for as long as they have to wait, together', () => {
    const ifKept = { afterMs: 4_000, exchange: 'waybell.deliveries', routingKey: 'carrier.order.created' };
    const retry = (name: string): Publication => ({ ...delivery(name, { to: 'carrier.order.created.4s' }), ifKept });
    expect(only(joined(retry('a'), retry('b'))).publication.ifKept).toEqual(ifKept);
  });

  test('travel alone where they have headers of their own, which their batch has', () => {
    const suspect = { ...delivery('a', { traceparent: '00-aa-bb-01' }), headers: { 'waybell-came-before': 1 } };
    const [first, second] = joined(suspect, delivery('b'), delivery('c'));
    expect([first?.publication.headers, second?.members.length]).toEqual([{ 'waybell-came-before': 1 }, 2]);
    expect(openBatch(arrived(asSent(suspect)))).toMatchObject([{ cameBefore: true, traceparent: '00-aa-bb-01' }]);
  });

  test('have a message id of their batch, by which a return is told from others, also of the same', () => {
    const [one, other] = [delivery('a'), delivery('b')];
    const sent = [joined(one, other), joined(one, other), joined(one), joined(one)].map(only);
    expect(new Set([...sent.map(({ publication }) => publication.messageId), 'a', 'b']).size).toBe(6);
  });

  test('are a batch each where they are sent one by one, and what is no delivery is left as it is', () => {
    expect(openBatch(arrived(asSent(delivery('a'))))).toMatchObject([{ messageId: 'a' }]);
    const { delivery: _, ...event } = delivery('event');
    expect(asSent(event)).toBe(event);
    expect(joined(event, event).map(({ publication }) => publication)).toEqual([event, event]);
  });
});

describe('a batch', () => {
  const twelve = () =>
    only(joined(...Array.from({ length: 12 }, (_, place) => delivery(String(place), { body: `{"n":${place}}` }))))
      .publication;

  test('says how many it is without being opened', () => {
    expect(countMembers(arrived(twelve()))).toBe(12);
    expect(countMembers(arrived(delivery('a')))).toBe(1);
  });

  test('of several that came before says so of each, and one of a single delivery does not', () => {
    expect(openBatch(arrived(twelve(), 1)).map(({ cameBefore }) => cameBefore)).toEqual(Array(12).fill(true));
    expect(openBatch(arrived(twelve()))[0]).not.toHaveProperty('cameBefore');
    expect(openBatch(arrived(asSent(delivery('a')), 1))[0]).not.toHaveProperty('cameBefore');
  });

  test('that many processes died with is left as it is, and can still be read', () => {
    const came = arrived(twelve(), CRASHES_UNOPENED);
    const message = { ...came, crashes: CRASHES_UNOPENED };
    expect(openBatch(message)).toEqual([message]);
    expect(readMembers(message)).toHaveLength(12);
    const opened = openBatch({ ...came, crashes: CRASHES_UNOPENED - 1 });
    expect(opened.map(({ crashes }) => crashes)).toEqual(Array(12).fill(CRASHES_UNOPENED - 1));
  });

  test.each([
    ['1 12', undefined],
    ['12', undefined],
    ['', undefined],
    ['3 12', 3],
    ['12 more', 12],
  ])('with the note %p is one of a later format: %p', (note, version) => {
    const { reason, detail } = rejectBatch({ ...arrived(twelve()), note });
    expect(reason).toBe(version === undefined ? 'not_a_batch' : 'newer_format');
    expect(detail).toContain(version === undefined ? 'cannot be read' : `a batch of deliveries of format ${version}`);
  });

  test('is opened, whatever a later version has put behind its note and the notes of its members', () => {
    const { body, ...message } = arrived(twelve());
    const text = body.toString().replaceAll(/,(\d+)\]/g, ',$1,"00-trace",{"more":1}]');
    const opened = openBatch({ ...message, note: `${message.note} lane hot`, body: Buffer.from(text) });
    expect(opened.map((each) => each.body.toString())).toEqual(
      Array.from({ length: 12 }, (_, place) => `{"n":${place}}`),
    );
  });

  test.each([
    ['of a later format', { note: '3 12' }],
    ['of the next format, with members of this one', { note: '2 12' }],
    ['that says another number', { note: '1 11' }],
    ['without a note', { note: '' }],
    ['that ends too early', { body: twelve().body.subarray(0, -1) }],
    ['without notes', { body: Buffer.from('{}\n') }],
    ['of no JSON', { body: Buffer.from('nonsense') }],
    ['of numbers', { body: Buffer.from('[1,2,3,4,5,6,7,8,9,10,11,12]\n') }],
    ['with a body before its bodies', { body: Buffer.from(twelve().body.toString().replace('",0,7', '",-1,7')) }],
    ['of nothing', { body: Buffer.alloc(0) }],
  ])('%s is not opened', (_, wrong) => {
    const message = { ...arrived(twelve()), ...wrong };
    expect(openBatch(message)).toEqual([message]);
    expect(isDeliveryBatch(message)).toBe(true);
    expect(readMembers(message)).toBeUndefined();
    expect(countMembers(message)).toBeLessThanOrEqual(12);
  });
});

const TYPE = 'carrier.order.created';

/** Builds a batch in which these heads stand before these bodies. */
function batchOf(note: string, heads: readonly unknown[], bodies = '{}', type = TYPE): Message {
  const body = Buffer.from(`${JSON.stringify(heads)}\n${bodies}`);
  const contentType = 'application/vnd.waybell.deliveries';
  return arrived({ kind: 'publish', exchange: 'waybell.deliveries', routingKey: type, body, note, type, contentType });
}

const { guid, subscription, event } = aDelivery({});
const NOTE = `1 ${subscription} 3 ${event} 5 1700000000000 1700000005000`;
const noted = (note: unknown, trace?: unknown) => [guid, note, 0, 2, trace];

describe('a member', () => {
  const DUE = 1_700_000_001_000;

  test.each<[string, Partial<CarriedDelivery>]>([
    ['', {}],
    [` ${DUE}`, { dueAt: DUE }],
    [' resend 5', { byHand: { why: 'resend', fromAttempt: 5 } }],
    [` ${DUE} test 1 retried 1`, { dueAt: DUE, byHand: { why: 'test', fromAttempt: 1, isRetried: true } }],
  ])('with a note that ends in "%s" is read, whatever a later version wrote behind it', (more, what) => {
    for (const note of [NOTE + more, `${NOTE}${more} lane hot-1 via {"a":"b"}`]) {
      const { delivery: carried, traceparent } = only(openBatch(batchOf('1 1', [noted(note, '00-aa-bb-01')])));
      expect(carried).toEqual(aDelivery({ attempt: 5, traceparent: '00-aa-bb-01', ...what }));
      expect(traceparent).toBe('00-aa-bb-01');
    }
  });

  test.each(['2', '12'])('of the later format %s stays closed: only a later version reads it', (version) => {
    const read = rejectBatch(only(openBatch(batchOf('1 1', [noted(NOTE.replace('1', version))]))));
    expect(read).toMatchObject({ kind: 'reject', reason: 'newer_format' });
    expect(read.detail).toContain(`a delivery of format ${version}`);
  });

  test.each<[string, unknown[]]>([
    ['without a guid', [null, NOTE, 0, 2]],
    ['without a note', noted(null)],
    ['with a note of no version', noted(NOTE.replace('1', '0'))],
    ['of an unknown event', noted(NOTE.replace(event, 'unknown'))],
    ['of an unknown subscription', noted(NOTE.replace(subscription, 'unknown'))],
    ['with a word for a number', noted(NOTE.replace('1700000005000', 'now'))],
    ['without all of its note', noted(NOTE.slice(0, -14))],
    ['with something behind the note', noted(`${NOTE} 1 1`)],
    ['with a word and no value behind the note', noted(`${NOTE} lane`)],
    ['with a time, a word and no value behind the note', noted(`${NOTE} ${DUE} lane`)],
    ['by hand from nowhere', noted(`${NOTE} resend`)],
    ['by hand from before the first attempt', noted(`${NOTE} resend 0`)],
    ['by hand from an attempt to come', noted(`${NOTE} test 6`)],
  ])('%s stays closed, as a batch of its own', (_, head) => {
    const batch = batchOf('1 1', [head]);
    const closed = only(openBatch(batch));
    expect([closed.body, closed.delivery, isDeliveryBatch(closed)]).toEqual([batch.body, undefined, true]);
    expect(rejectBatch(closed)).toMatchObject({ kind: 'reject', reason: 'not_a_delivery' });
  });

  test.each(['broker.order.created', 'carrier', ''])('of the type "%s" stays closed', (type) => {
    const closed = only(openBatch(batchOf('1 1', [noted(NOTE)], '{}', type)));
    expect([closed.delivery, rejectBatch(closed).reason]).toEqual([undefined, 'not_a_delivery']);
  });

  test('that cannot be read leaves its neighbours as they are, and keeps its own bytes', () => {
    const heads = [noted(NOTE), ['b', '9 unread', 2, 7, null, { more: 1 }], ['c', NOTE, 0, 2]];
    const [first, second, third] = openBatch(batchOf('1 3', heads, '{}{"b":1}'));
    expect([first?.delivery?.guid, third?.delivery?.guid]).toEqual([guid, 'c']);
    expect(second).toMatchObject({ messageId: 'b', note: '1 1', routingKey: TYPE, type: TYPE });
    expect(second?.body.toString()).toBe('[["b","9 unread",0,7,null,{"more":1}]]\n{"b":1}');
    expect(second && openBatch(second)).toEqual([second]);
  });
});

describe('what the next release writes', () => {
  const byHand = { why: 'test', fromAttempt: 1, isRetried: true } as const;
  const full = aDelivery({ attempt: 5, dueAt: 1_700_000_001_000, byHand, traceparent: '00-aa-bb-01' });
  const { body, ...named } = full;
  const { dueAt: _, byHand: __, traceparent: ___, ...least } = named;
  const nextBatch = (...members: object[]) =>
    batchOf(
      `2 ${members.length} lane hot`,
      members.map((each) => ({ offset: 0, length: 2, ...each })),
    );

  test('is read, in a batch and in a row, with what the release after that adds', () => {
    const opened = openBatch(nextBatch(named, { ...least, lane: 'hot', dueAt: null, traceparent: null }));
    expect(opened.map(({ delivery: carried }) => carried)).toEqual([full, { ...least, body }]);
    expect(opened[0]).toMatchObject({ messageId: guid, traceparent: '00-aa-bb-01', contentType: 'application/json' });
    expect(readRow(JSON.stringify({ lane: 'hot', ...named }), body)).toMatchObject({
      type: TYPE,
      delivery: full,
      body,
    });
  });

  test.each<[string, object]>([
    ['without a guid', { guid: undefined }],
    ['of an unknown interface', { interface: 'broker' }],
    ['of no action', { action: 1 }],
    ['of an unknown event', { event: 'unknown' }],
    ['of an unknown subscription', { subscription: null }],
    ['with a text for a number', { generation: '3' }],
    ['of half an attempt', { attempt: 1.5 }],
    ['made before all time', { createdAt: -1 }],
    ['with a text for a time', { dueAt: 'soon' }],
    ['with a number for its trace', { traceparent: 1 }],
    ['by hand for an unknown reason', { byHand: { ...byHand, why: 'fun' } }],
    ['by hand from an attempt to come', { byHand: { ...byHand, fromAttempt: 6 } }],
    ['by hand, retried at times', { byHand: { ...byHand, isRetried: 'at times' } }],
    ['by hand without a reason', { byHand: 'test' }],
  ])('%s stays closed, in a batch and in a row', (_what, wrong) => {
    const [good, closed] = openBatch(nextBatch(named, { ...named, ...wrong }));
    expect(good?.delivery).toEqual(full);
    const row = readRow(JSON.stringify({ ...named, ...wrong }), body);
    for (const each of [closed, { ...closed, ...row }] as Message[]) {
      expect([each.delivery, each.note, rejectBatch(each).reason]).toEqual([undefined, '2 1', 'not_a_delivery']);
      expect(each.body.toString()).toMatch(/^\[\{.*"offset":0,"length":2.*\}\]\n\{\}$/);
      expect(JSON.parse(each.body.toString().split('\n')[0] ?? '')).toMatchObject([JSON.parse(JSON.stringify(wrong))]);
    }
  });

  test.each([
    ['of no objects', [1]],
    ['of members of format 1', [noted(NOTE)]],
    ['without the place of a body', [{ ...named, offset: 0 }]],
    ['with a body beyond its bodies', [{ ...named, offset: 1, length: 2 }]],
  ])('%s is no batch', (_what, members) => {
    const message = batchOf('2 1', members);
    expect([openBatch(message), rejectBatch(message).reason]).toEqual([[message], 'not_a_batch']);
  });
});

describe('a row', () => {
  test('is read as it was written', () => {
    const carried = aDelivery({ attempt: 2, byHand: { why: 'resend', fromAttempt: 2 }, traceparent: '00-aa-bb-01' });
    const content = readRow(writeRow(carried), carried.body);
    expect(content).toMatchObject({ type: TYPE, messageId: guid, traceparent: '00-aa-bb-01', delivery: carried });
  });

  test('that cannot be read is a batch of its own, which stays closed', () => {
    const { body, ...content } = readRow(writeRow(aDelivery({ guid: 'a' })).replace('"1 ', '"9 '), Buffer.from('{}'));
    expect(content).toMatchObject({ type: TYPE, messageId: 'a', note: '1 1' });
    expect(body.toString()).toMatch(/^\[\["a","9 .*",0,2,?.*\]\]\n\{\}$/);
    expect(rejectBatch({ ...batchOf('1 1', []), body })).toMatchObject({ reason: 'newer_format' });
  });
});
