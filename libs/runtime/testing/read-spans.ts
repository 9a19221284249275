export type SentSpan = {
  /** `service.name` of the process that made it. */
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parent: string;
  name: string;
  /** SPAN_KIND_… by number: 1 internal, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Milliseconds since the epoch. */
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  isError: boolean;
};

/** Reads an ExportTraceServiceRequest of OTLP in protobuf: opentelemetry/proto/trace/v1/trace.proto. */
export function readSpans(request: Buffer): SentSpan[] {
  return fieldsOf(request, 1).flatMap((resourceSpans) => {
    const [resource = EMPTY] = fieldsOf(resourceSpans, 1);
    const service = String(attributesOf(fieldsOf(resource, 1))['service.name']);
    const spans = fieldsOf(resourceSpans, 2).flatMap((scopeSpans) => fieldsOf(scopeSpans, 2));
    return spans.map((span) => spanOf(span, service));
  });
}

const EMPTY = Buffer.alloc(0);

function spanOf(span: Buffer, service: string): SentSpan {
  const hex = (number: number) => (fieldsOf(span, number)[0] ?? EMPTY).toString('hex');
  const nanoseconds = (number: number) =>
    Number((fieldsOf(span, number)[0] ?? EMPTY).readBigUInt64LE() / 1_000n) / 1_000;
  const [status = EMPTY] = fieldsOf(span, 15);
  return {
    service,
    traceId: hex(1),
    spanId: hex(2),
    parent: hex(4),
    name: (fieldsOf(span, 5)[0] ?? EMPTY).toString(),
    kind: numberIn(span, 6) ?? 0,
    startMs: nanoseconds(7),
    endMs: nanoseconds(8),
    attributes: attributesOf(fieldsOf(span, 9)),
    isError: numberIn(status, 3) === 2,
  };
}

function attributesOf(pairs: readonly Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => [(fieldsOf(pair, 1)[0] ?? EMPTY).toString(), valueOf(fieldsOf(pair, 2)[0] ?? EMPTY)]),
  );
}

function valueOf(value: Buffer): unknown {
  const [text] = fieldsOf(value, 1);
  if (text !== undefined) return text.toString();
  const [float] = fieldsOf(value, 4);
  if (float !== undefined) return float.readDoubleLE();
  const [list] = fieldsOf(value, 5);
  if (list !== undefined) return fieldsOf(list, 1).map(valueOf);
  const isTrue = numberIn(value, 2);
  return isTrue === undefined ? numberIn(value, 3) : isTrue === 1;
}

/** Returns each value of that field: the bytes of a message, a text or a fixed number; the digits of a varint. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  return [...readFields(message)].filter(({ field }) => field === wanted).map(({ bytes }) => bytes);
}

function numberIn(message: Buffer, wanted: number): number | undefined {
  const [bytes] = fieldsOf(message, wanted);
  return bytes === undefined ? undefined : Number(bytes.toString());
}

function* readFields(message: Buffer): Generator<{ field: number; bytes: Buffer }> {
  let at = 0;
  const varint = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      shift += 7n;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const type = tag & 7;
    if (type === 0) {
      yield { field: tag >> 3, bytes: Buffer.from(String(varint())) };
      continue;
    }
    const length = { 1: 8, 2: -1, 5: 4 }[type] ?? Number.NaN;
    const size = length < 0 ? Number(varint()) : length;
    yield { field: tag >> 3, bytes: message.subarray(at, (at += size)) };
  }
}
