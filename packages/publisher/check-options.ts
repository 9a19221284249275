import { addressesIn } from '@waybell/runtime/addresses-in';

const SCHEMES = new Set(['amqp:', 'amqps:']);
/** Limit of a timer. */
const MOST = 2 ** 31 - 1;

/** Returns it where it is one. An address holds a password: it is not shown. */
export function checkedUrl(url: string | undefined): string {
  if (url === undefined || url === '') throw new TypeError('url is missing: set AMQP_URL');
  const isOne = (address: string) => URL.canParse(address) && SCHEMES.has(new URL(address).protocol);
  if (typeof url !== 'string' || !addressesIn(url).every(isOne))
    throw new TypeError('url must be amqp://user:password@host:5672/virtual-host, or amqps://');
  return url;
}

/** Throws where one of them is no number above 0. */
export function checkNumbers(numbers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(numbers))
    if (typeof value !== 'number' || !(value > 0 && value <= MOST))
      throw new TypeError(`${name} must be a number above 0 and at most ${MOST}, not ${String(value)}`);
}

/** Throws where one of them is given and no text. */
export function checkTexts(texts: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(texts))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new TypeError(`${name} must be a text, and not empty`);
}
