/** The log of a publisher or a relay. A logger of pino is one. */
export interface PublisherLog {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
}

export interface PublisherOptions {
  /** `amqp://` or `amqps://`; several nodes of a cluster are separated by commas. Throws at once where it is missing. */
  url: string | undefined;
  /** PEM: the authorities that may vouch for the broker, and what this process shows of itself. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
  /** The user of `url`, if its team has its own queue for rejected events: sent as `user_id`, which the broker checks. */
  userId?: string | undefined;
  /** Shown in the broker's list of connections. `publisher` unless given. */
  name?: string | undefined;
  /** Seconds. 10 unless given. */
  heartbeatSeconds?: number | undefined;
  /** An event without a confirm for this long is sent again, in milliseconds; defaults to 30,000. */
  confirmTimeoutMs?: number | undefined;
  /** Bytes of events that may be unconfirmed at once; `publish` waits for room. 32 MiB unless given. */
  bufferBytes?: number | undefined;
  /**
   * Gets warnings about lost connections, missing parts of the broker, and late events. Without it each warning is printed once.
   */
  log?: PublisherLog | undefined;
}
