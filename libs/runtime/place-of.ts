import { addressesIn } from './addresses-in.ts';

/** Host and port, of each where there are several, for messages: an address holds a password. */
export function placeOf(url: string): string | undefined {
  const addresses = addressesIn(url);
  return addresses.every((address) => URL.canParse(address))
    ? addresses.map((address) => new URL(address).host).join(', ')
    : undefined;
}
