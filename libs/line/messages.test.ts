import { describe, expect, test } from '@jest/globals';
import { publishAgain } from './messages.ts';

describe('publishAgain', () => {
  test('sends the same bytes and properties, and of the headers only the trace', () => {
    const properties = { messageId: 'm', type: 't', note: 'n', contentType: 'c', contentEncoding: 'gzip' };
    const body = Buffer.from([0xff, 0]);
    const to = { exchange: 'e', routingKey: 'k' };
    expect(publishAgain({ ...properties, traceparent: '00-1', body }, to)).toEqual({
      kind: 'publish',
      ...to,
      body,
      ...properties,
      headers: { traceparent: '00-1' },
    });
  });
});
