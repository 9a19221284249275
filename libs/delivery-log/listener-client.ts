/**
 * Separates a client from the name of its listener: no client's own name has a space (`isClientName`). The function
 * `waybell.is_listener` does the same in SQL.
 */
const SEPARATOR = ' ';
const LISTEN = 'listen';

/** Names the listener of a client, which is a client with subscriptions and secrets of its own. */
export function listenerClient(client: string, name: string): string {
  return [client, LISTEN, ...(name === '' ? [] : [name])].join(SEPARATOR);
}

/** Returns the client itself, or the owner of the listener. */
export function ownerOf(client: string): string {
  const [owner = client] = client.split(SEPARATOR);
  return owner;
}

/** Builds a condition: the column names the client of this parameter, or a listener of it. */
export const isOfOwner = (column: string, parameter: string): string =>
  `split_part(${column}, '${SEPARATOR}', 1) = ${parameter}`;

/** Builds a condition: the subscription of this guid is of a listener. */
export const isOfListener = (subscription: string): string =>
  `exists (select from waybell.subscriptions l where l.guid = ${subscription} and waybell.is_listener(l.client_id))`;

/** Whether the reader sees listeners too, and not only clients. */
export type ListenerOption = { withListeners?: boolean | undefined };
