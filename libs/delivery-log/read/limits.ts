/** How much of the log one request may ask for: here, where rules keep to it and contracts can tell of it. */

/** How many entries a page has. */
export const PAGE_SIZE = { default: 50, most: 200 };

/** How many deliveries of a replay are sent in a second. */
export const REPLAY_RATE = { default: 10, most: 1_000 };

/** As many as one statement is sure to write within its limit; the next request takes the rest. */
export const LARGEST_REPLAY = 10_000;

/** How many of a client's latest replays are listed. */
export const LISTED_REPLAYS = 100;
