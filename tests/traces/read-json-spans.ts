import type { SentSpan } from '@waybell/runtime/testing/read-spans';

type Value = {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values?: Value[] };
};
type Attributes = { key: string; value: Value }[];
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: Attributes;
  status?: { code?: number };
};
/** A request in OTLP's JSON. */
export type JsonTraces = {
  resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: Span[] }[] }[];
};

export function readJsonSpans({ resourceSpans }: JsonTraces): SentSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, service)));
  });
}

function spanOf(span: Span, service: string): SentSpan {
  const { traceId, spanId, parentSpanId: parent = '', name, kind, attributes = [], status } = span;
  const milliseconds = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000n) / 1_000;
  return {
    service,
    traceId,
    spanId,
    parent,
    name,
    kind,
    startMs: milliseconds(span.startTimeUnixNano),
    endMs: milliseconds(span.endTimeUnixNano),
    attributes: attributesOf(attributes),
    isError: status?.code === 2,
  };
}

function attributesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf);
  return stringValue ?? doubleValue ?? boolValue ?? Number(intValue);
}
