const MASK = '***';
/** A shorter value is no secret, and a shorter beginning of one reveals nothing. */
const LEAST = 4;
/** Escapes of one character in JSON, HTML or a URL; several of the URL's where UTF-8 needs them. */
const WRITTEN =
  /\\u[\da-f]{4}|\\["\\/bfnrt]|&(?:amp|apos|gt|lt|quot);|&#\d{1,7};|&#x[\da-f]{1,6};|%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi;
/** An escape that is cut off at the end. */
const CUT = /(?:\\(?:u[\da-f]{0,3})?|&(?:#?x?[\da-f]{0,7}|[a-z]{1,4})|(?:%[\da-f]{2}){0,3}(?:%[\da-f]?)?)$/i;
const NAMED: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };
const SHORT: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * A text with its escapes decoded. `starts`: the index in the original at which each character begins, the last is its
 * length; absent if nothing was decoded. `ends`: where it ends, with and without an escape that is cut off.
 */
type DecodedText = { text: string; starts?: readonly number[]; ends: readonly number[] };
type TextRange = [from: number, to: number];

/**
 * Masks the secrets that a receiver was sent in its answer: as they are, and as JSON, HTML, forms and URLs escape them. Masks
 * the beginning of a secret at the end of the text too. Takes linear time: an attacker may choose text and secrets.
 */
export function masked(text: string, secrets: readonly string[]): string {
  if (text.length < LEAST) return text;
  const spans: TextRange[] = [];
  const readings = readingsOf(text);
  for (const secret of new Set(secrets)) {
    if (secret.length >= LEAST) for (const reading of readings) addSpans(spans, secret, reading);
  }
  if (spans.length === 0) return text;
  let [shown, at] = ['', 0];
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    // Overlapping ranges become one.
    if (from >= at) shown += text.slice(at, from) + MASK;
    at = Math.max(at, to);
  }
  return shown + text.slice(at);
}

/** The secrets in the query of a callback URL: all values, including those without a name. */
export function secretsOfQuery(search: string): string[] {
  return search
    .slice(1)
    .split('&')
    .map((parameter) => decoded(parameter.slice(parameter.indexOf('=') + 1).replaceAll('+', ' ')));
}

/** The text as it is, with escapes decoded, and decoded as a form, where a plus is a blank. */
function readingsOf(text: string): DecodedText[] {
  const plain = { text, ends: endsOf(text) };
  if (!/[%&+\\]/.test(text)) return [plain];
  return [plain, readingOf(text), readingOf(text.replaceAll('+', ' '))];
}

function readingOf(written: string): DecodedText {
  const starts: number[] = [];
  let [text, at] = ['', 0];
  const takeUntil = (end: number) => {
    text += written.slice(at, end);
    while (at < end) starts.push(at++);
  };
  for (const { 0: escape, index } of written.matchAll(WRITTEN)) {
    takeUntil(index);
    const meant = characterOf(escape);
    text += meant;
    for (let unit = 0; unit < meant.length; unit += 1) starts.push(index);
    at = index + escape.length;
  }
  takeUntil(written.length);
  return { text, starts: [...starts, written.length], ends: endsOf(text) };
}

function endsOf(text: string): number[] {
  const cut = CUT.exec(text)?.[0].length ?? 0;
  return cut === 0 ? [text.length] : [text.length, text.length - cut];
}

function characterOf(escape: string): string {
  const [kind, second = ''] = escape;
  if (kind === '%') return decoded(escape);
  if (kind === '&') {
    const name = escape.slice(1, -1).toLowerCase();
    const point = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return NAMED[name] ?? (point <= 0x10_ff_ff ? String.fromCodePoint(point) : escape);
  }
  if (escape.length > 2) return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  return SHORT[second] ?? second;
}

/** Adds the ranges of the original where a decoded text contains the secret, or ends with its beginning. */
function addSpans(spans: TextRange[], secret: string, { text, starts, ends }: DecodedText): void {
  const start = (at: number) => starts?.[at] ?? at;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
    spans.push([start(at), start(at + secret.length)]);
  }
  for (const end of ends) {
    let length = Math.min(secret.length - 1, end);
    while (length >= LEAST && !text.endsWith(secret.slice(0, length), end)) length -= 1;
    if (length >= LEAST) spans.push([start(end - length), start(text.length)]);
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
