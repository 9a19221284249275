/** The part of `Log` that connections write to. */
export type BrokerLog = {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
};
