/** `blocked`: connected, but an alarm on memory or disk makes the broker refuse publishes. */
export type BrokerState = 'writable' | 'blocked' | 'away';
