/** The rule of HTTP that the receiver's bytes break, in words. */
type BrokenRule = { brokenRule: string };

/** `rewritten`: the head in a form that the strictest parser accepts. An interim response has none. */
type ResponseHead = { status: number; rewritten: string } | { status: 'interim' };

const NO_STATUS_LINE: BrokenRule = {
  brokenRule: 'its status line is not a version up to HTTP/2.0 and a status of three digits',
};

const BLANKS = /^[ \t\v\f\r\n]+/;
const HEAD_END = /\n\r{0,2}\n/g;
const MOST_END_BYTES = 4;
const MOST_REMEMBERED = 2_048;

/** Reads the heads of the responses that come over a connection, one after another. */
export class HeadReader {
  #isAwaited = false;
  #hasBegun = false;
  // The part of a head that has come, a character for each byte.
  #text = '';
  // A receiver's head stays the same until its Date shows the next second; reading it again would cost four times as much.
  #last: { text: string; head: ResponseHead | BrokenRule } = { text: '', head: NO_STATUS_LINE };
  readonly #keptS: number;
  readonly #isOld: () => boolean;

  /** `keptS`: a keep-alive timeout of this many seconds or more has no effect. `isOld`: whether this response is to be the last. */
  constructor(keptS = Infinity, isOld = () => false) {
    this.#keptS = keptS;
    this.#isOld = isOld;
  }

  /** A request begins: the next bytes are the head of its response. */
  expectResponse(): void {
    this.#isAwaited = true;
    this.#hasBegun = false;
    this.#text = '';
  }

  /** Whether the response to the last request has begun. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The part of a head that has come, or the bytes that were no head. */
  get received(): Buffer {
    return Buffer.from(this.#text, 'latin1');
  }

  /** Returns what to pass on of the next bytes; undefined until a head is complete. */
  read(chunk: Buffer): Buffer | undefined | BrokenRule {
    if (!this.#isAwaited) return chunk;
    let from = Math.max(0, this.#text.length - MOST_END_BYTES + 1);
    this.#text += chunk.toString('latin1');
    for (;;) {
      if (from === 0) this.#text = this.#text.replace(BLANKS, '');
      const text = this.#text;
      if (text === '') return undefined;
      if (!beginsLikeHttp(text)) return { brokenRule: 'it does not begin with HTTP/' };
      this.#hasBegun = true;
      HEAD_END.lastIndex = from;
      if (!HEAD_END.test(text)) return whyHopeless(text);
      const end = HEAD_END.lastIndex;
      if (headerBytes(text, end) > MOST_HEADER_BYTES) return TOO_LONG;
      const head = this.#readHead(text.slice(0, end));
      if ('brokenRule' in head) return head;
      this.#text = text.slice(end);
      if (head.status === 'interim') {
        from = 0;
        continue;
      }
      const bodyBytes = this.#text.length;
      this.#isAwaited = false;
      this.#text = '';
      const rewritten = this.#isOld() ? closing(head.rewritten) : head.rewritten;
      const passed = Buffer.allocUnsafe(rewritten.length + bodyBytes);
      chunk.copy(passed, passed.write(rewritten, 'latin1'), chunk.length - bodyBytes);
      return passed;
    }
  }

  #readHead(text: string): ResponseHead | BrokenRule {
    if (text === this.#last.text) return this.#last.head;
    const head = readHead(text, this.#keptS);
    // A slice keeps the whole text in memory.
    if (text.length <= MOST_REMEMBERED && this.#text.length <= MOST_REMEMBERED) this.#last = { text, head };
    return head;
  }
}

const BEGINNING = 'HTTP/';

const beginsLikeHttp = (text: string): boolean => BEGINNING.startsWith(text.slice(0, BEGINNING.length).toUpperCase());

/** Limit of a response's header section: 64 KiB of lines, and its end. Those of servers in use are under 16 KiB. */
const MOST_HEADER_BYTES = 65 * 1024;

const headerBytes = (text: string, end: number): number => end - text.indexOf('\n') - 1;

const CR_WITHOUT_LF: BrokenRule = { brokenRule: 'its lines end in a carriage return without a line feed' };
const TOO_LONG: BrokenRule = { brokenRule: `its headers are longer than ${MOST_HEADER_BYTES} bytes` };

const LINE_TOO_LONG: BrokenRule = { brokenRule: `its status line is longer than ${MOST_HEADER_BYTES} bytes` };

// Up to this length the whole status line is checked again with each byte that comes, then its beginning only.
const MOST_STATUS_LINE_BYTES = 16 * 1024;
const CR_ALONE = /\r[^\r\n]/;

/** Why no further bytes can make this a response; undefined if they can. */
function whyHopeless(text: string): BrokenRule | undefined {
  if (text.includes('\n')) {
    if (headerBytes(text, text.length) > MOST_HEADER_BYTES) return TOO_LONG;
    return readStatusLine(text) === undefined ? NO_STATUS_LINE : undefined;
  }
  if (text.length > MOST_HEADER_BYTES) return LINE_TOO_LONG;
  if (text.length > MOST_STATUS_LINE_BYTES) return readStatusLine(text) === undefined ? NO_STATUS_LINE : undefined;
  // A line that ends in CR alone, and an empty one.
  const line = text.search(CR_ALONE);
  return line !== -1 && text.includes('\r\r', line + 1) ? CR_WITHOUT_LF : undefined;
}

const STATUS_LINE = /^HTTP\/([0-2](?:\.\d)?)[ \t\v\f\r]+([1-9]\d\d)(?!\d)/i;

/**
 * Reads the status line at the beginning of a text, as tolerantly as RFC 9112 (section 4) lets a client; undefined if
 * there is none.
 */
function readStatusLine(text: string): { version: string; status: number } | undefined {
  const [, version, status] = STATUS_LINE.exec(text) ?? [];
  return version === undefined ? undefined : { version, status: Number(status) };
}

/** Headers that are read: those that frame the body, and those about keeping the connection and coming again. */
const READ = ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'retry-after'] as const;
const SHORTEST_NAME = Math.min(...READ.map((name) => name.length));
/** Values of a repeated name are joined by commas (RFC 9110, 5.2). */
type Fields = Partial<Record<(typeof READ)[number], string>>;
const isRead = (name: string): name is keyof Fields => (READ as readonly string[]).includes(name);

const FOLD = /\n[ \t]+/g;
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/g;
// The strict grammar (RFC 9112, 4 and 5), without what a client may accept beyond it.
const PLAIN =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
// Enough for a date or a number of seconds.
const LONGEST_VALUE = 64;

/**
 * Reads the head of a response, its blank line included, with a character for each byte. As tolerant as RFC 9112 lets a
 * client be and curl, Go and Python are: lines that end in LF alone (2.2), folded ones (5.2), blanks before a colon (5.1),
 * any bytes in names, values and the reason, repeated equal lengths (6.3), or lengths beside chunks, which prevail (6.1).
 * After a head that is not plain, or a body without a certain end, the connection is closed, so that no bytes behind one
 * response can be taken for the next. Leaves out for how long the receiver keeps the connection if that is `keptS` seconds or more.
 */
function readHead(text: string, keptS: number): ResponseHead | BrokenRule {
  const line = readStatusLine(text);
  if (line === undefined) return NO_STATUS_LINE;
  const { status, version } = line;
  if (status === 101) return { brokenRule: 'it switches to another protocol, which was not asked for' };
  if (status < 200) return { status: 'interim' };
  const isPlain = PLAIN.test(text);
  // A line that begins with a blank continues the one before; after the status line it is ignored (2.2).
  const fields = readFields(isPlain ? text : text.replaceAll(FOLD, ' '));
  if ('brokenRule' in fields) return fields;
  const frame = frameOf(status, fields);
  if ('brokenRule' in frame) return frame;
  const isKept = isPlain && frame.isCertain && isToBeKept(version, fields.connection);
  const again = fields['retry-after'] === undefined ? '' : `${passedOn(fields, 'retry-after')}${dateIn(text)}`;
  const keptFor = isShorter(fields['keep-alive'], keptS) ? passedOn(fields, 'keep-alive') : '';
  const location = status < 300 || status >= 400 ? '' : locationIn(text);
  const passed = `${frame.line}${keptFor}${again}${location}`;
  const rewritten = `HTTP/1.1 ${status} \r\n${passed}\r\n`;
  return { status, rewritten: isKept ? rewritten : closing(rewritten) };
}

const CLOSE = 'connection: close\r\n\r\n';

/** The head of a response after which its connection is closed. */
const closing = (rewritten: string): string =>
  rewritten.endsWith(CLOSE) ? rewritten : `${rewritten.slice(0, -'\r\n'.length)}${CLOSE}`;

function readFields(text: string): Fields | BrokenRule {
  const fields: Fields = {};
  let at = text.indexOf('\n') + 1;
  for (let line = 1; ; line += 1) {
    const end = text.indexOf('\n', at);
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon > end) {
      return /^\r*$/.test(text.slice(at, end)) ? fields : { brokenRule: `line ${line} of its headers has no colon` };
    }
    const name = nameIn(text, at, colon);
    if (name !== undefined) {
      const before = fields[name];
      const value = text.slice(colon + 1, end).trim();
      fields[name] = before === undefined ? value : `${before},${value}`;
    }
    at = end + 1;
  }
}

/** The name of a header that is read, without the blanks behind it. */
function nameIn(text: string, from: number, until: number): keyof Fields | undefined {
  // Skips most names cheaply.
  if (until - from < SHORTEST_NAME) return undefined;
  const name = text.slice(from, until).trimEnd().toLowerCase();
  return isRead(name) ? name : undefined;
}

/** `isCertain`: there is only one place where the body can end. */
type BodyFraming = { line: string; isCertain: boolean };

/** Finds how the body is framed (RFC 9112, 6.3). Without a header for it, the body ends with the connection. */
function frameOf(status: number, fields: Fields): BodyFraming | BrokenRule {
  const { 'transfer-encoding': coding, 'content-length': length } = fields;
  // Such a response has no body, but headers that claim one may come with one.
  if (status === 204 || status === 304) {
    return { line: '', isCertain: coding === undefined && (length === undefined || length === '0') };
  }
  if (coding !== undefined) {
    const codings = listed(coding);
    const isChunked = codings.at(-1) === 'chunked';
    return {
      line: isChunked ? 'transfer-encoding: chunked\r\n' : '',
      isCertain: coding.toLowerCase() === 'chunked' && length === undefined,
    };
  }
  return length === undefined ? { line: '', isCertain: false } : frameOfLength(length);
}

function frameOfLength(said: string): BodyFraming | BrokenRule {
  const isOne = NUMBER.test(said);
  const [length = NaN, ...others] = isOne ? [Number(said)] : new Set(listed(said).map(readLength));
  if (others.length > 0) return { brokenRule: 'it has several values for Content-Length' };
  if (Number.isNaN(length)) return { brokenRule: 'its Content-Length is no number' };
  // A length beyond safe integers is never reached.
  return Number.isSafeInteger(length)
    ? { line: `content-length: ${length}\r\n`, isCertain: isOne }
    : { line: '', isCertain: false };
}

const NUMBER = /^\d+$/;
const readLength = (text: string): number => (NUMBER.test(text) ? Number(text) : NaN);

/** An element of a list, without blanks around it. Empty ones do not count (RFC 9110, 5.6.1.2). */
const ELEMENT = /[^,\s](?:[^,]*[^,\s])?/g;
const listed = (value: string): string[] => value.toLowerCase().match(ELEMENT) ?? [];

function isToBeKept(version: string, connection = ''): boolean {
  if (version === '1.1' && connection === '') return true;
  const said = listed(connection);
  return version === '1.1' ? !said.includes('close') : version === '1.0' && said.includes('keep-alive');
}

const TIMEOUT = /(?:^|,)[\t ]*timeout=(\d+)/i;

const isShorter = (keepAlive = '', keptS: number): boolean => Number(TIMEOUT.exec(keepAlive)?.[1] ?? Infinity) < keptS;

const DATE = /\ndate[ \t]*:([^\r\n]*)/i;

/** The receiver's Date, read only together with Retry-After. */
function dateIn(text: string): string {
  const date = DATE.exec(text)?.[1]?.trim();
  return date === undefined ? '' : headerLine('date', date);
}

const LOCATION = /\nlocation[ \t]*:([^\r\n]*)/i;
const LONGEST_LOCATION = 2_048;

/** Passes on where a redirect leads, for people to see. */
function locationIn(text: string): string {
  const location = LOCATION.exec(text)?.[1]?.trim() ?? '';
  return location === '' ? '' : headerLine('location', location, LONGEST_LOCATION);
}

function passedOn(fields: Fields, name: keyof Fields): string {
  const value = fields[name];
  return value === undefined ? '' : headerLine(name, value);
}

function headerLine(name: string, value: string, longest = LONGEST_VALUE): string {
  return `${name}: ${value.slice(0, longest).replaceAll(CONTROL, ' ')}\r\n`;
}
