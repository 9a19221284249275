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
  /** The user of `url`, where its team has a queue of its own for what was rejected: sent as `user_id`, which the broker checks. */
  userId?: string | undefined;
  /** Shown in the broker's list of connections. `publisher` unless given. */
  name?: string | undefined;
  /** Seconds. 10 unless given. */
  heartbeatSeconds?: number | undefined;
  /** An event without a confirm for so long is sent again. 30,000 unless given. */
  confirmTimeoutMs?: number | undefined;
  /** Bytes of events that may be unconfirmed at once; `publish` waits for room. 32 MiB unless given. */
  bufferBytes?: number | undefined;
  /** Hears of lost connections, of what the broker lacks, and of what is late. Without it each warning is printed once. */
  log?: PublisherLog | undefined;
}
