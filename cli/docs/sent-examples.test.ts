import { describe, expect, test } from '@jest/globals';
import { actionKey, actions } from '@waybell/catalog/actions';
import { exampleCloudEvent, exampleEvent } from '@waybell/contracts/example-event';
import { readEvent } from '@waybell/events/read-event';

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

describe('the example event', () => {
  test.each(actions.map((action) => [actionKey(action), action] as const))(
    'of %s reads the same as a CloudEvent',
    (routingKey, action) => {
      const plain = readEvent({ body: Buffer.from(JSON.stringify(exampleEvent(action))), routingKey }, limits);
      const body = Buffer.from(JSON.stringify(exampleCloudEvent(action)));
      const other = readEvent({ body, routingKey, contentType: 'application/cloudevents+json' }, limits);
      if (plain.kind === 'invalid' || other.kind === 'invalid') throw new Error(`${routingKey} is invalid`);
      expect(other.event).toEqual({
        ...plain.event,
        fingerprint: other.event.fingerprint,
        unknownMembers: { count: 0, places: [] },
      });
    },
  );
});
