/** Limits of one request to the log. In a file of their own, so that contracts can state them. */

/** Entries of a page. */
export const PAGE_SIZE = { default: 50, most: 200 };

/** Deliveries of a replay sent per second. */
export const REPLAY_RATE = { default: 10, most: 1_000 };

/** The number that one statement is sure to write within its limit; the next request has the rest. */
export const LARGEST_REPLAY = 10_000;

/** Number of a client's latest replays that are listed. */
export const LISTED_REPLAYS = 100;
