import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from './testing/any-character.ts';
import { readMessage } from './broker/amqp-message.ts';
import { bundle, countMembers, isBundle, openBundle, readMembers, rejectBundle, UNOPENED } from './bundle.ts';
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
    ...(traceparent === '' ? {} : { headers: { traceparent } }),
  };
}

const bundled = (...all: Publication[]) => bundle(all.map((publication) => ({ publication })));

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

const only = (publications: readonly { publication: Publication }[]): Publication => {
  const [first] = publications;
  if (first === undefined || publications.length > 1) throw new Error(`${publications.length} messages`);
  return first.publication;
};

describe('what is bundled', () => {
  test('comes out as each would have come by itself, in its order, whatever is in it', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 200 });
    const member = fc.record({ name: fc.uuid(), body: text, traceparent: fc.constantFrom('', '00-aa-bb-01') });
    const kept = fc.property(fc.array(member, { minLength: 1, maxLength: 40 }), (members) => {
      const all = members.map(({ name, ...rest }) => delivery(name, rest));
      const opened = bundled(...all).flatMap(({ publication }) => openBundle(arrived(publication)));
      expect(opened).toEqual(all.map((each) => arrived(each)));
    });
    fc.assert(kept);
  });

  test('is at most 16, of one queue, and 64 KiB; what is larger travels alone', () => {
    const many = Array.from({ length: 40 }, (_, place) => delivery(String(place)));
    expect(bundled(...many).map(({ members }) => members.length)).toEqual([16, 16, 8]);
    const alone = bundle([{ publication: delivery('a') }, { publication: delivery('b') }], 1);
    expect(alone.map(({ publication }) => publication)).toEqual([delivery('a'), delivery('b')]);
    const two = bundled(delivery('a'), delivery('b', { to: 'carrier.order.delivered' }), delivery('c'));
    expect(two.map(({ publication, members }) => [publication.routingKey, members.length])).toEqual([
      ['carrier.order.created', 2],
      ['carrier.order.delivered', 1],
    ]);
    const large = ['a', 'b', 'c'].map((name) => delivery(name, { body: name.repeat(2 ** 15) }));
    expect(bundled(...large).map(({ members }) => members.length)).toEqual([2, 1]);
    expect(
      bundled(delivery('a'), delivery('b', { body: 'b'.repeat(2 ** 17) })).map(({ members }) => members.length),
    ).toEqual([1, 1]);
  });

  test('shares the bytes of a body that several have', () => {
    const body = Buffer.from('x'.repeat(10_000));
    const members = Array.from({ length: 16 }, (_, place) => ({ ...delivery(String(place)), body }));
    const publication = only(bundled(...members));
    expect(publication.body.length).toBeLessThan(12_000);
    expect(openBundle(arrived(publication)).every((message) => message.body.equals(body))).toBe(true);
  });

  test('has a message id of its own, by which a return is told from others; alone, a message is as it was', () => {
    const first = only(bundled(delivery('a'), delivery('b')));
    const second = only(bundled(delivery('a'), delivery('b')));
    expect(new Set([first.messageId, second.messageId, 'a', 'b']).size).toBe(4);
    expect(only(bundled(delivery('a')))).toEqual(delivery('a'));
  });
});

describe('a bundle', () => {
  const twelve = () =>
    only(bundled(...Array.from({ length: 12 }, (_, place) => delivery(String(place), { body: `{"n":${place}}` }))));

  test('says how many it is without being opened', () => {
    expect(countMembers(arrived(twelve()))).toBe(12);
    expect(countMembers(arrived(delivery('a')))).toBe(1);
  });

  test('that came before says so of each', () => {
    expect(openBundle(arrived(twelve(), 1)).map(({ cameBefore }) => cameBefore)).toEqual(Array(12).fill(true));
    expect(openBundle(arrived(twelve()))[0]).not.toHaveProperty('cameBefore');
  });

  test('that many processes died with is left as it is, and can still be read', () => {
    const came = arrived(twelve(), UNOPENED);
    const message = { ...came, deaths: UNOPENED };
    expect(openBundle(message)).toEqual([message]);
    expect(readMembers(message)).toHaveLength(12);
    const opened = openBundle({ ...came, deaths: UNOPENED - 1 });
    expect(opened.map(({ deaths }) => deaths)).toEqual(Array(12).fill(UNOPENED - 1));
  });

  test.each([
    ['1 12', undefined],
    ['12', undefined],
    ['', undefined],
    ['2 12', 2],
    ['12 more', 12],
  ])('with the note %p is one of a later format: %p', (note, version) => {
    const { reason, detail } = rejectBundle({ ...arrived(twelve()), note });
    expect(reason).toBe(version === undefined ? 'not_a_bundle' : 'newer_format');
    expect(detail).toContain(version === undefined ? 'cannot be read' : `a bundle of format ${version}`);
  });

  test('is opened, whatever a later version has put behind its note and the notes of its members', () => {
    const { body, ...message } = arrived(twelve());
    const text = body.toString().replaceAll(/,(\d+)\]/g, ',$1,"00-trace",{"more":1}]');
    const opened = openBundle({ ...message, note: `${message.note} lane hot`, body: Buffer.from(text) });
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
    expect(openBundle(message)).toEqual([message]);
    expect(isBundle(message)).toBe(true);
    expect(readMembers(message)).toBeUndefined();
    expect(countMembers(message)).toBeLessThanOrEqual(12);
  });
});
