import { addressesIn } from '@waybell/runtime/addresses-in';

/** Returns the addresses of the cluster's nodes in random order, so that processes spread over them. */
export function nodesOf(url: string): string[] {
  return addressesIn(url)
    .map((node) => ({ node, place: Math.random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ node }) => node);
}
