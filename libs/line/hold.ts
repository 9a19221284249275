/** What a step holds at most, over all its queues: taken, and neither acknowledged nor given back. */
export type Hold = { messages: number; bytes: number };
