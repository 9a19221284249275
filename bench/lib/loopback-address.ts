/** One of the 16 million addresses of this machine, for numbers below 62,500. */
export function loopbackAddress(place: number): string {
  return `127.1.${Math.floor(place / 250)}.${(place % 250) + 1}`;
}
