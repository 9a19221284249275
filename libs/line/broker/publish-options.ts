import type { Options } from 'amqplib';
import type { Publication } from '../messages.ts';

/** What goes with its body. What no queue takes is returned. */
export function publishOptions(publication: Publication): Options.Publish {
  const { messageId, type, note, contentType, contentEncoding, headers } = publication;
  return {
    persistent: true,
    mandatory: true,
    ...(messageId !== undefined && { messageId }),
    ...(type !== undefined && { type }),
    ...(note !== undefined && { correlationId: note }),
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    ...(headers !== undefined && { headers }),
  };
}
