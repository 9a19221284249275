/** What a connection says of itself: a `Log` is one. */
export type BrokerLog = {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
};
