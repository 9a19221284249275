import { actionTable, keyOf } from '../oracle/action-table.ts';
import type { Dice } from './dice.ts';
import type { GeneratedEvent } from './event.ts';
import type { Published } from './message.ts';
import { aGuid } from './values.ts';

/** How the message must be rejected, and how the detail must begin. */
export type MessageFault = { reason: string; detail: string; message: Published };

type BreakMessage = (message: Published, event: GeneratedEvent, dice: Dice) => MessageFault;

export const MAX_BYTES = 2 ** 20;

/** Every way of breaking the contract around the JSON of an event. The message given is plain, not compressed. */
export const messageFaults: Readonly<Record<string, BreakMessage>> = {
  'another routing key': (message, { action }, dice) => {
    const others = actionTable.map(keyOf).filter((key) => key !== keyOf(action));
    const routingKey = dice.pick([...others, '', action.name, keyOf(action).toUpperCase()]);
    return {
      reason: 'routing_key_differs',
      detail: `the routing key is "${routingKey}"`,
      message: { ...message, routingKey },
    };
  },
  'another message_id': (message, event, dice) => {
    const messageId = dice.pick([aGuid(dice), '', `${event.guid} `, event.guid.slice(1)]);
    const place = message.contentType.startsWith('application/cloudevents') ? '/id' : '/guid';
    return { reason: 'message_id_differs', detail: `${place}: is ${event.guid}`, message: { ...message, messageId } };
  },
  'a byte that is not UTF-8': (message, _event, dice) => {
    const index = dice.pick(startsIn(message.body));
    const bad = Buffer.from(dice.pick(['ff', 'c3', '80', 'eda080', 'f5808080', 'c0af']), 'hex');
    const body = Buffer.concat([message.body.subarray(0, index), bad, message.body.subarray(index)]);
    return {
      reason: 'not_utf8',
      detail: `byte ${index + 1} is not UTF-8: write the JSON in UTF-8`,
      message: { ...message, body },
    };
  },
  'a byte more than 1 MiB': (message) => {
    const body = Buffer.alloc(MAX_BYTES + 1, ' ');
    message.body.copy(body);
    return { reason: 'too_large', detail: `the body is longer than ${MAX_BYTES} bytes`, message: { ...message, body } };
  },
  'not an object': (message, _event, dice) => {
    const body = Buffer.from(dice.pick(['[]', '[{}]', 'null', '7', '"x"']));
    return { reason: 'envelope_invalid', detail: 'the body: ', message: { ...message, body } };
  },
  'more after the end': (message, _event, dice) => {
    const body = Buffer.concat([message.body, Buffer.from(dice.pick(['x', '{}', ',', '\0', '\ufeff']))]);
    return { reason: 'not_json', detail: 'the body (character ', message: { ...message, body } };
  },
  'cut short': (message, _event, dice) => {
    const body = message.body.subarray(0, dice.pick(startsIn(message.body)));
    return { reason: 'not_json', detail: '', message: { ...message, body } };
  },
  'an encoding that nobody knows': (message, _event, dice) => {
    const contentEncoding = dice.pick(['br', 'deflate', 'x']);
    return {
      reason: 'unknown_encoding',
      detail: `content_encoding "${contentEncoding}"`,
      message: { ...message, contentEncoding },
    };
  },
  'a broken gzip': (message) => {
    return {
      reason: 'broken_gzip',
      detail: 'content_encoding is gzip',
      message: { ...message, contentEncoding: 'gzip' },
    };
  },
};

/** The places where a name or a text begins or ends: no character lies across such a place. */
function startsIn(body: Buffer): number[] {
  return [...body.keys()].filter((index) => body[index] === 0x22);
}
