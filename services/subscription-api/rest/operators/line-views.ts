import { isUtf8 } from 'node:buffer';
import { decodeBody } from '@waybell/events/decode-body';
import type { NamedState } from '@waybell/line/broker/depth';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { mayHoldMore } from '@waybell/line/operating/describe-consumers';
import { LARGEST_BYTES, plainOf } from '@waybell/rejected/selection';
import { factsOf, type RejectedFacts } from '@waybell/rejected/rejected-messages';

export function queueView(state: NamedState) {
  const { name, messages, consumers } = state;
  return { name, messages, consumers, is_known: !mayHoldMore(state) };
}

/** Names members as AMQP does, where it has a name. */
export function rejectedView(facts: RejectedFacts) {
  return {
    id: facts.id,
    reason: facts.reason,
    detail: facts.detail,
    rejected_at: facts.rejectedAt === '' ? null : facts.rejectedAt,
    queue: facts.queue,
    exchange: facts.exchange,
    routing_key: facts.routingKey,
    size: facts.size,
    message_id: facts.messageId,
    user_id: facts.userId,
    type: facts.type,
    correlation_id: facts.note,
    content_type: facts.contentType,
    content_encoding: facts.contentEncoding,
    traceparent: facts.traceparent,
  };
}

/** With its body: as text, where it is one. */
export function rejectedDetailView(rejected: RejectedMessage) {
  return { ...rejectedView(factsOf(rejected)), ...bodyView(rejected) };
}

function bodyView(rejected: RejectedMessage) {
  const decoded = decodeBody(rejected, LARGEST_BYTES);
  const plain = decoded.kind === 'bytes' ? plainOf(decoded.bytes) : rejected.body;
  return isUtf8(plain)
    ? { body: plain.toString(), body_encoding: 'utf-8' }
    : { body: rejected.body.toString('base64'), body_encoding: 'base64' };
}
