import { gzipSync } from 'node:zlib';
import type { Dice } from './dice.ts';
import { type GeneratedEvent, publishedKey } from './event.ts';
import { type Entry, type JsonObject, object, quoted, valueIn, writtenText } from './json.ts';

/** The event as an AMQP message. */
export type Published = {
  body: Buffer;
  routingKey: string;
  messageId?: string;
  contentType: string;
  contentEncoding?: string;
};

export type Clothes = 'envelope' | 'cloud event';

const cloudNames = new Map([
  ['guid', 'id'],
  ['occurred_at', 'time'],
]);
const namesInData = ['parties', 'payload', 'ignored', 'error_message'];

/** Plain, and without a message_id. */
export function messageOf(event: GeneratedEvent, clothes: Clothes, dice: Dice): Published {
  return {
    body: Buffer.from(writtenText(clothes === 'envelope' ? event.envelope : asCloudEvent(event), dice)),
    routingKey: publishedKey(event),
    contentType: clothes === 'envelope' ? 'application/json' : 'application/cloudevents+json; charset=utf-8',
  };
}

/** The same message as upstream may also publish it: compressed, or with a message_id. */
export function varied(message: Published, { guid }: GeneratedEvent, dice: Dice): Published {
  return {
    ...message,
    ...(dice.oneIn(8) && { body: gzipSync(message.body, { level: 1 }), contentEncoding: 'gzip' }),
    ...(dice.oneIn(2) && { messageId: dice.oneIn(3) ? guid.toUpperCase() : guid }),
  };
}

/** The place of a member of the envelope in the body. */
export function placeIn(clothes: Clothes, place: string): string {
  if (clothes === 'envelope') return place;
  const name = place.split('/')[1] ?? '';
  if (name === 'action' || name === 'interface') return '/type';
  return cloudNames.has(name) ? `/${cloudNames.get(name)}` : `/data${place}`;
}

/** The same in CloudEvents 1.0. Members of the envelope that no event knows go beside its data. */
function asCloudEvent({ envelope, action, saidName = action.name }: GeneratedEvent): JsonObject {
  const known = [...cloudNames.keys(), ...namesInData, 'interface', 'action'];
  const moved = [...cloudNames].flatMap(([name, as]): Entry[] => {
    const value = valueIn(envelope, name);
    return value === undefined ? [] : [[as, value]];
  });
  return object([
    ['specversion', quoted('1.0')],
    ...moved,
    ['source', quoted('/platform')],
    ['type', quoted(`${action.interface}.${saidName}`)],
    ['data', object(envelope.members.filter(([name]) => namesInData.includes(name)))],
    ...envelope.members.filter(([name]) => !known.includes(name)),
  ]);
}
