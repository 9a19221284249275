import { addressesIn } from './addresses-in.ts';

/** Returns host and port, of each if there are several, for messages: the address itself holds a password. */
export function placeOf(url: string): string | undefined {
  const addresses = addressesIn(url);
  return addresses.every((address) => URL.canParse(address))
    ? addresses.map((address) => new URL(address).host).join(', ')
    : undefined;
}
