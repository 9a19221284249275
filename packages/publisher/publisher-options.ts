/** What a publisher or a relay says of itself. A logger of pino is one. */
export interface PublisherLog {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
}

export interface PublisherOptions {
  /** `amqp://` or `amqps://`; several nodes of a cluster are separated by commas. */
  url: string;
  /** PEM: the authorities that may vouch for the broker, and what this process shows of itself. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** The user of `url`, where its team has a queue of its own for what was rejected: sent as `user_id`, which the broker checks. */
  userId?: string;
  /** Shown in the broker's list of connections. `publisher` unless given. */
  name?: string;
  /** Seconds. 10 unless given. */
  heartbeatSeconds?: number;
  /** An event without a confirm for so long is sent again. 30,000 unless given. */
  confirmTimeoutMs?: number;
  /** Bytes of events that may be unconfirmed at once; `publish` waits for room. 32 MiB unless given. */
  bufferBytes?: number;
  /** Hears of lost connections, of what the broker lacks, and of what is late. */
  log?: PublisherLog;
}
