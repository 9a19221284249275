/** The header `traceparent` of W3C Trace Context: `00-<trace>-<span>-<flags>`. */
import { ROOT_CONTEXT, trace, TraceFlags, type Context, type Span } from '@opentelemetry/api';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const TRACE_ENDS = 35;

export function isTraceparent(text: string | undefined): text is string {
  return text !== undefined && TRACEPARENT.test(text);
}

export function traceIdOf(traceparent: string | undefined): string | undefined {
  return isTraceparent(traceparent) ? traceparent.slice(3, TRACE_ENDS) : undefined;
}

/** Returns the trace's id; undefined if the trace is not sampled, as nobody could look it up. */
export function sampledTraceId(traceparent: string | undefined): string | undefined {
  return isTraceparent(traceparent) && isSampled(traceparent) ? traceparent.slice(3, TRACE_ENDS) : undefined;
}

/** Returns the context to create children of that span in; undefined without a span. */
export function contextOf(traceparent: string | undefined): Context | undefined {
  if (!isTraceparent(traceparent)) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceparent.slice(3, TRACE_ENDS),
    spanId: traceparent.slice(TRACE_ENDS + 1, TRACE_ENDS + 17),
    traceFlags: isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}

export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & TraceFlags.SAMPLED) !== 0;
}
