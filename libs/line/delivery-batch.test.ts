import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from './testing/any-character.ts';
import { readMessage } from './broker/amqp-message.ts';
import {
  asSent,
  countMembers,
  isDeliveryBatch,
  joinDeliveries,
  openBatch,
  readMembers,
  rejectBatch,
} from './delivery-batch.ts';
import { CRASHES_UNOPENED } from './hand-over/suspicion.ts';
import type { Message, Publication } from './messages.ts';

function delivery(name: string, { to = 'carrier.order.created', body = name, traceparent = '' } = {}): Publication {
  return {
    kind: 'publish',
    exchange: 'waybell.deliveries',
    routingKey: to,
    body: Buffer.from(body),
    messageId: name,
    type: to,
    note: `note of ${name}`,
    contentType: 'application/json',
    deliveries: true,
    ...(traceparent === '' ? {} : { headers: { traceparent } }),
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
            messageId: name,
            type: to,
            note: `note of ${name}`,
            contentType: 'application/json',
            deliveries: true,
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
    const suspect = { ...delivery('a'), headers: { 'waybell-came-before': 1, traceparent: '00-aa-bb-01' } };
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
    expect(openBatch(arrived(asSent(delivery('a'))))).toMatchObject([{ messageId: 'a', note: 'note of a' }]);
    const { deliveries: _, ...event } = delivery('event');
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
    ['2 12', 2],
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
    ['of another version', { note: '2 12' }],
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
