import { addressesIn } from '@waybell/runtime/addresses-in';

/** The addresses of a cluster's nodes, in an order of its own at each call: so processes spread over them. */
export function nodesOf(url: string): string[] {
  return addressesIn(url)
    .map((node) => ({ node, place: Math.random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ node }) => node);
}
